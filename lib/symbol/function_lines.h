/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collects the source lines and inlined calls of functions of a file, to be kept
 * (dwarf/kept_lines.h): of whole functions, chosen by the caller, in the order of their addresses.
 *
 *	struct function_lines fl = { .lines = lines, .end_ns = clock_now_ns() + NS_PER_S };
 *	function_lines_add(&fl, symtab, is_wanted);
 *	kept_lines_pack(&fl.kept, &bytes);
 *	function_lines_done(&fl);
 */
#pragma once

#include "dwarf/kept_lines.h"

#include <stdbool.h>

struct lines;
struct symtab;

struct function_lines {
	struct lines *lines; /* borrowed */
	/* Returns the hash of the text of a line; 0: it is not known. NULL: none is. */
	uint32_t (*text)(void *data, const char *file, unsigned int line);
	void *data;
	uint64_t end_ns;	 /* CLOCK_MONOTONIC, when time is up */
	struct kept_lines kept;	 /* the result */
	struct kept_call *calls; /* private, as is the next */
	size_t call_room;
};

/* Adds the functions of @st for whose number of the first piece @is_wanted is true, until time is
 * up, or there are KEPT_LINES_ROWS_MAX rows. Very large functions are left out. Returns whether all
 * of them were added. */
bool function_lines_add(struct function_lines *fl, const struct symtab *st, const bool *is_wanted);
/* Frees the result, and what is private. */
void function_lines_done(struct function_lines *fl);
