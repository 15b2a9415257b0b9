/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of nodes; for nodes.h's own use.
 *
 *	for (i = 0; i < node_count; i++)
 *		puts(node_table[i].pattern);
 */
#pragma once

#include "oprofilefs/nodes.h"

enum {
	NODE_NAME_ROOM = 64,   /* bytes of a name in a path */
	NODE_NUMBER_ROOM = 50, /* bytes of a value that is written, as the original had it */
};

struct nodes {
	struct node_settings settings;
	bool changed;
	const struct nodes_host *host;
	void *data;
};

/* Where a path leads: the node, and what its pattern leaves open. */
struct place {
	const struct node *node;
	uint64_t number;	   /* of "#": a decimal number; the last one in the path */
	char name[NODE_NAME_ROOM]; /* of "$": a name */
};

/* Takes the last part of the path of each node that a pattern stands for. */
typedef void part_item(const char *part, void *data);

/*
 * A node: its pattern, in which # stands for a number and $ for a name of the host's; its mode. A
 * number among the settings is said by its place in struct node_settings, one of a counter's
 * directory by its place in struct node_counter, and its range. Other nodes have functions.
 */
struct node {
	const char *pattern;
	mode_t mode;
	const char *help;
	size_t offset; /* of a setting, NO_SETTING for other nodes */
	bool of_counter;
	uint64_t min, max;
	/* Whether it is there; NULL: always. */
	bool (*exists)(const struct nodes *n, const struct place *at);
	/* Names all that the pattern stands for in the directory @in. */
	void (*each)(const struct nodes *n, const struct place *in, part_item *item, void *data);
	int (*read)(const struct nodes *n, const struct place *at, struct strbuf *text);
	int (*write)(struct nodes *n, const struct place *at, const char *value, struct error *err);
};

#define NO_SETTING SIZE_MAX

extern const struct node node_table[];
extern const size_t node_count;

/* Where the setting lies that @at leads to; its node has one. */
uint64_t *node_setting(struct nodes *n, const struct place *at);
