/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The nodes of oprofilefs as a table: for each its path, mode, and how it is read and written. The
 * tree over it is oprofilefs/nodes.h.
 *
 *	for (size_t i = 0; i < node_count; i++)
 *		puts(node_table[i].pattern);
 */
#pragma once

#include "base/strbuf.h"
#include "control/settings.h"
#include "oprofilefs/nodes_host.h"

#include <sys/types.h>

enum {
	NODE_NAME_ROOM = 64,   /* bytes of a name in a path */
	NODE_NUMBER_ROOM = 50, /* bytes of a value that is written; the original's limit */
};

struct nodes {
	struct node_settings settings;
	bool changed;
	const struct nodes_host *host;
	void *data;
};

/* A node found by its path, with the parts of the path that its pattern leaves open. */
struct place {
	const struct node *node;
	uint64_t number;	   /* for "#": the last number in the path */
	char name[NODE_NAME_ROOM]; /* for "$" */
};

/* Gets the last part of the path of a node that a pattern stands for. */
typedef void part_item(const char *part, void *data);

/*
 * A row: a path in which # stands for a number and $ for a name from the host. A number that can be
 * set is at @offset in struct node_settings, or in struct node_counter for a file in a numbered
 * directory, and has a range. Other nodes have functions.
 */
struct node {
	const char *pattern;
	mode_t mode;
	const char *help;
	size_t offset;	   /* NO_SETTING if it is not a setting */
	bool of_counter;   /* @offset is in struct node_counter */
	uint64_t min, max; /* of a setting; max 0: the largest value of ->setting */
	enum setting_id setting;
	/* Whether it exists; NULL: always. */
	bool (*exists)(const struct nodes *n, const struct place *at);
	/* Calls @item for all that the pattern stands for in the directory @in. */
	void (*each)(const struct nodes *n, const struct place *in, part_item *item, void *data);
	int (*read)(const struct nodes *n, const struct place *at, struct strbuf *text);
	int (*write)(struct nodes *n, const struct place *at, const char *value, struct error *err);
};

#define NO_SETTING SIZE_MAX

/* The directory of cookies. */
#define NODE_COOKIES "cookies"

extern const struct node node_table[];
extern const size_t node_count;

/* The value of the setting @at, whose node must be one. */
uint64_t *node_setting(struct nodes *n, const struct place *at);
