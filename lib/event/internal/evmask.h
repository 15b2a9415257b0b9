/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads "unit_masks" files: named sets of unit masks that the lines of an "events" file refer to.
 * Strings are borrowed from the text that was read; the table owns the arrays.
 *
 *	struct evmask_table t = { 0 };
 *	evmask_read(&t, &lines, 0, include, data);
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
	struct catalog_mask *masks; /* at least one once the set is complete */
	size_t count, room;
	bool used; /* an event refers to it */
};

struct evmask_table {
	struct evmask *sets;
	size_t count, room;
};

/* Reads the file named by "include:@key" into the same table. Returns 0 or -errno. */
typedef int evmask_include(void *data, const char *key, const struct evline *l);

/* Reads a file's lines into the table. @depth is the number of includes that led to the file; of
 * sets with the same name the one read at the least depth is used. A line that cannot be read is
 * ignored with a warning, a set's first line with all lines of the set. */
void evmask_read(struct evmask_table *t, struct evline *l, unsigned int depth,
		 evmask_include *include, void *data);
/* Returns the set called @name, the one at the least depth if there are several, or NULL. */
struct evmask *evmask_find(const struct evmask_table *t, const char *name);
/* Warns of each set of the file itself (not of an included one) that no event uses. */
void evmask_check_used(const struct evmask_table *t);
/* Frees the table. */
void evmask_done(struct evmask_table *t);
