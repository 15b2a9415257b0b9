/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of a binary that is gone on the lines of a source as it was then. They are moved to
 * the lines of the source that is there, as far as their texts were kept and are found in it
 * (moved_lines.h). The others stay, to be shown as lines of an earlier version.
 *
 *	struct older_source *o = older_source_new(view, kept, "/home/me/a.c");
 *	map_set(&o->samples.lines, 7, counts);
 *	older_source_settle(o, &text, &here, class_count);
 *	older_source_free(o);
 */
#pragma once

#include "base/intern.h"
#include "profile/annotate/internal/moved_lines.h"
#include "profile/annotate/internal/source_lines.h"

#include <stdio.h>

struct kept_lines;

/* The source that is there. */
struct source_text {
	const char *path;
	FILE *in;    /* NULL: there is none */
	uid_t owner; /* as for sources_open() */
};

struct older_source {
	struct line_samples samples;
	bool is_unknown; /* after settling: lines are left whose texts were not kept */
	uint64_t built;	 /* mtime of the binary, in seconds */
	struct old_line *known;
	size_t known_count, known_room;
	struct map by_line; /* index in ->known plus 1 */
	struct intern names;
	/* Of the source that is there: */
	struct moved_lines *by_text; /* NULL: there is none, all lines stay */
	bool is_same;		     /* by time and texts, it did not change */
};

/* Takes what @kept, the lines of the binary of @v, has of the file @path. Without samples; caller
 * frees. */
struct older_source *older_source_new(const struct annotate_view *v, const struct kept_lines *kept,
				      const char *path);
/* NULL is fine. */
void older_source_free(struct older_source *o);
/* Finds the lines in the source that is there. */
void older_source_compare(struct older_source *o, const struct source_text *now);
/* After that, the number that the line has now; 0: it was not found. If there is no source, all
 * have the numbers that they had. */
unsigned int older_source_place(const struct older_source *o, unsigned int line);
/* Finds the lines, and moves samples, of @class_count classes, to the lines @to of the source that
 * is there. */
void older_source_settle(struct older_source *o, const struct source_text *now,
			 struct line_samples *to, size_t class_count);
/* The function with this line, as linked; NULL: it is not known. */
const char *older_source_function(const struct older_source *o, unsigned int line);
/* Whether the text of the line was kept. */
bool older_source_has_text(const struct older_source *o, unsigned int line);
