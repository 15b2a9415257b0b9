/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One source line in all builds that a profile has: the newest build that has code of it says which
 * line it is; in the same functions of other builds, it is the line with the same text or, if that
 * is not known, with the same number from the function's start. If no build has samples there, the
 * number is that of the next older build.
 *
 *	struct line_choice choice;
 *	if (line_choice_parse("src/a.c:7", &choice))
 *		...populate_images() with config->line = &choice...
 *	line_builds_add(&source, &choice, &container);
 *	r = line_choice_rows(&choice, ages, &container, err);
 *	line_choice_done(&choice);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

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
 * have the line, with the counts and the place of the line only. @ages says of each image how new
 * it is (line_builds.h). 0, or -ENODATA if the line was not sampled. */
int line_choice_rows(const struct line_choice *choice, const uint64_t *ages, struct container *c,
		     struct error *err);
