/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the lines of a function, as they were when a binary was built that is gone, in the source
 * that is there now. What is known of the old lines are hashes of their texts. A line is found if
 * its text is in the function of the same name, and if it is clear which of equal lines it is: a
 * text occurs once in both versions, or once between lines that were found, or is as far from one
 * of these as it was. A line that may be another one is not found.
 *
 *	struct moved_lines *m = moved_lines_new(old, count, text);
 *	unsigned int now = moved_lines_find(m, 7);		0: not found
 *	moved_lines_free(m);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct moved_lines;
struct sourcetext;

/* A line of the source as it was. */
struct old_line {
	unsigned int line;
	uint32_t text;	      /* hash, as in kept_lines.h; 0: not known */
	const char *function; /* that has it, as linked; NULL: not known */
};

/* Finds the lines of @old in @text; sorts @old. Lines are different. Caller frees. */
struct moved_lines *moved_lines_new(struct old_line *old, size_t count,
				    const struct sourcetext *text);
/* NULL is fine. */
void moved_lines_free(struct moved_lines *m);
DEFINE_CLEANUP(struct moved_lines *, moved_lines_free);
/* The number that the old line @line has now; 0: it was not found. */
unsigned int moved_lines_find(const struct moved_lines *m, unsigned int line);
/* Whether each line whose text is known is where it was; there is one. */
bool moved_lines_stayed(const struct moved_lines *m);
