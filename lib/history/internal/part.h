/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a segment of a flat history has in a window, by its own numbers. So several segments can be
 * read at the same time, each by a thread, and what they have is added up after that.
 *
 *	struct part p = { .source = source };
 *	part_read(&p, &wanted);
 *	if (p.status == 0 && p.segment)
 *		...	take ->counts and ->extents
 *	part_done(&p);
 */
#pragma once

#include "base/error.h"
#include "history/segment.h"
#include "history/segment_steps.h"
#include "history/slice_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct history_source;
struct steps;

/* What is wanted of segments; all is borrowed. */
struct part_wanted {
	const char *dir;
	const struct window *window;
	const struct steps *steps; /* NULL: time is not divided */
	/* Sources that were read: they have the counts of their generations. */
	const struct history_source *taken;
	size_t taken_count;
	bool by_slice;	  /* the caller reads the slices; ->counts and ->extents stay empty */
	bool covers_only; /* ->counts stay empty, and the segment is not loaded */
};

/* A slice that was read. */
struct extent {
	struct slice slice;
	int64_t gaps_ms; /* in it */
	unsigned int level;
};

struct part {
	const struct history_source *source; /* the caller's */
	int status;			     /* 0 or -errno, and why: */
	struct error err;
	struct segment *segment; /* loaded; NULL: it has nothing in the window */
	struct segment_steps counts;
	struct extent *extents;
	size_t extent_count, extent_room;
};

/* Reads what is @wanted of ->source. */
void part_read(struct part *p, const struct part_wanted *wanted);
/* Frees all. */
void part_done(struct part *p);
/* Whether a source that was taken has the generation. */
bool part_is_taken(const struct part_wanted *wanted, uint32_t generation);
/* Whether a slice of a segment is wanted. */
bool part_wants(const struct part_wanted *wanted, const struct segment_slice *s);
/* The extent of a slice of a segment of @level. */
struct extent part_extent(const struct segment_slice *s, unsigned int level);
