/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One source line in all builds that a profile has: the newest build with samples in it says which
 * line it is; in the same functions of other builds, it is the line with the same text or, if that
 * is not known, with the same number from the function's start.
 *
 *	struct line_choice choice;
 *	if (line_choice_parse("src/a.c:7", &choice))
 *		...populate_images() with config->line = &choice...
 *	r = line_choice_rows(&choice, classes.steps, &container, err);
 *	line_choice_done(&choice);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct container;

struct line_choice {
	char *file; /* the last parts of its path */
	unsigned int line;
};

/* Reads "FILE:LINE". False if @text has not that form; else the caller calls line_choice_done(). */
bool line_choice_parse(const char *text, struct line_choice *ret);
/* Frees what line_choice_parse() allocated. */
void line_choice_done(struct line_choice *choice);
/* Whether the source file at @path, or NULL, is meant. */
bool line_choice_has(const struct line_choice *choice, const char *path);
/* Leaves of the rows of @c, which are those of populate_images() for @choice, the functions that
 * have the line, with the counts and the place of the line only. Each event has @steps classes of
 * ascending times. 0, or -ENODATA if the line was not sampled. */
int line_choice_rows(const struct line_choice *choice, size_t steps, struct container *c,
		     struct error *err);
