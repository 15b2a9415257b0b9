/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files called "unit_masks": sets of unit masks that the lines of "events" refer to by name. The
 * strings are borrowed from the text that was read, the arrays are the table's.
 *
 *	struct evmask_table t = { 0 };
 *	if (evmask_read(&t, &lines, 0, include, data) < 0) ...
 *	set = evmask_find(&t, "dc_refills");
 *	evmask_done(&t);
 */
#pragma once

#include "event/internal/evline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct catalog_mask;

enum {
	EVMASK_MAX = 64, /* masks of one set */
};

enum evmask_type { EVMASK_MANDATORY, EVMASK_EXCLUSIVE, EVMASK_BITMASK, EVMASK_TYPE_COUNT_ };

struct evmask {
	const char *name;
	const char *path; /* where it is defined */
	unsigned int line, depth;
	enum evmask_type type;
	const char *default_text; /* a number or the name of a mask */
	uint32_t default_mask;
	struct catalog_mask *masks; /* at least one, once read whole */
	size_t count, room;
	bool used; /* an event refers to it */
};

struct evmask_table {
	struct evmask *sets;
	size_t count, room;
};

/* Reads the file that "include:@key" names into the same table; 0 or -errno. */
typedef int evmask_include(void *data, const char *key, const struct evline *l);

/* Reads a file's lines into the table; @depth is the number of includes that led to it. A set of
 * the same name that was read at a lesser depth stands. 0, or -EBADMSG with what is wrong in which
 * line, or what @include returned. */
int evmask_read(struct evmask_table *t, struct evline *l, unsigned int depth,
		evmask_include *include, void *data);
/* The set called @name that counts; NULL if there is none. */
struct evmask *evmask_find(const struct evmask_table *t, const char *name);
/* -EBADMSG if a set of the file itself, not of an included one, is used by no event. */
int evmask_check_used(const struct evmask_table *t, struct error *err);
/* Frees the table. */
void evmask_done(struct evmask_table *t);
