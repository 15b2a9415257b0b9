/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What annotated sources are printed from: the samples of the lines of each file, and the functions
 * that start or were inlined on them. Names and counts are in the arena of the struct annotate.
 * Lines of a binary that is gone are lines of the source as it was: they are kept apart, and moved
 * (older_source.h) to those of the source that is there when it is printed.
 */
#pragma once

#include "base/map.h"
#include "profile/annotate/annotate.h"
#include "profile/annotate/internal/annotate_calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A function that starts on a line, or one that was inlined at a call there. */
struct head {
	unsigned int line;
	bool is_inlined;
	const char *name;
	uint64_t *counts;
};

/* The samples of lines, and what is on them. */
struct line_samples {
	struct map lines; /* line: its counts */
	struct head *heads;
	size_t head_count, head_room;
};

/* Adds a copy of @head. */
void line_samples_add_head(struct line_samples *s, const struct head *head);
/* Frees what it has, not the counts. */
void line_samples_done(struct line_samples *s);

struct source_file {
	const char *path;
	uid_t owner;	/* of the binary that names it; root if one of root names it */
	uint64_t built; /* binary_built() of the oldest binary; 0: all are gone */
	struct line_samples here;
	struct older_source **older; /* one for each binary that is gone */
	size_t older_count, older_room;
	uint64_t *counts;
	uint64_t sum;
	bool has_calls; /* some line calls */
};

struct annotate_source {
	struct annotate *a;
	uid_t owner;			  /* of the open image */
	uint64_t built;			  /* the same; 0: it is gone */
	const struct annotate_view *view; /* the open image */
	const struct kept_lines *kept;	  /* its lines if it is gone, else NULL */
	struct source_file *files;
	size_t count, room;
	struct map by_hash;    /* of the path: index + 1 */
	struct map by_pointer; /* the same for the strings of the open image */
	struct map older;      /* by number: the older_source of the open image */
	struct map calls;      /* inlined calls in the open image, by hash, to their counts */
	struct annotate_calls called; /* what lines call, of all images, if that is wanted */
};
