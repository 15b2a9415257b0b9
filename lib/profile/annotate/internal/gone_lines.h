/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of a binary that is gone as lines of the sources that are there (older_source.h).
 *
 *	struct gone_lines *g = gone_lines_new(view, lines, sources);
 *	if (lines_find(lines, address, &at))
 *		line = gone_lines_place(g, &at);
 *	gone_lines_free(g);				before the lines
 */
#pragma once

#include "base/macro.h"

struct annotate_view;
struct gone_lines;
struct lines;
struct lines_place;
struct sources;

/* For the binary of @v, which is gone and has @lines. All is borrowed. Caller frees. */
struct gone_lines *gone_lines_new(const struct annotate_view *v, const struct lines *lines,
				  struct sources *sources);
/* NULL is fine. */
void gone_lines_free(struct gone_lines *g);
/* The number that the line has in the source that is there, if there is one; 0: it has none, or it
 * is not known which. */
unsigned int gone_lines_place(struct gone_lines *g, const struct lines_place *at);
