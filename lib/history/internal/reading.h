/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the sources of a history one after the other: adds up the counts of their slices in a
 * window, by sample file.
 *
 *	struct reading r = { .dir = dir, .window = &window };
 *	if (reading_generation(&r, source, err) == 0)
 *		...	take ->files, ->pile and ->extents
 *	reading_done(&r);
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "history/history_name.h"
#include "history/internal/file_names.h"
#include "history/internal/part.h"
#include "history/internal/pile.h"
#include "history/internal/tally.h"
#include "history/slice_file.h"
#include "history/steps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct history_source;

/* The number of a name that is not parsed before a count needs it: most names have none in a short
 * window. */
#define READING_LATER UINT32_MAX

struct reading {
	const char *dir;
	const struct window *window;
	const struct steps *steps; /* NULL: time is not divided */
	/* Whether the keys of a sample file matter; else its counts are added up under the key 0.
	 * NULL: they all do. */
	bool (*wants_keys)(const struct sname *name, void *data);
	void *keys_data;
	/* Not 0: files are lines, which are parsed when all were read: internal/reading_top.h. */
	size_t top;
	bool covers_only; /* no counts are wanted, only ->extents */
	/* Is called after each slice, whose counts alone are in ->tally, and takes them. NULL: the
	 * slices are added up. */
	void (*each)(struct reading *r, const struct slice *slice);
	void *data;		      /* the caller's */
	struct history_source *taken; /* those that were read */
	size_t taken_count;

	struct history_file *files; /* the caller's */
	struct file_names names;    /* of these; a caller that keeps them takes it */
	size_t file_count, file_room;
	bool *keyless; /* by file, from 0 on */
	size_t keyless_room;
	struct pile pile;   /* files are numbered from 1 on */
	struct tally tally; /* of what is being read */
	struct extent *extents;
	size_t extent_count, extent_room;
	uint64_t folded, functions; /* as in struct history_cover */
	size_t damaged;		    /* bytes */

	uint32_t step; /* that the current slice belongs to */
	struct arena text;
	struct map by_name;    /* number of a file */
	struct map by_text;    /* of a line: its number */
	const char **unparsed; /* these, from 0 on, in ->text or ->texts */
	size_t unparsed_count, unparsed_room;
	char **texts; /* names of segments */
	size_t text_count, text_room;
	uint32_t *numbers;  /* of the names being read, in ->pile; by line, from 0 on */
	const char **lines; /* these, in ->text, where ->numbers has READING_LATER */
	size_t count, room, line_room;
};

/* Adds the slices of a generation that are in the window. 0 or -errno: then nothing was added. */
int reading_generation(struct reading *r, const struct history_source *source, struct error *err);
/* The same of a segment. Neither adds generations that were taken from other sources. */
int reading_segment(struct reading *r, const struct history_source *source, struct error *err);
/* The same of what was read of a segment already. */
int reading_part(struct reading *r, const struct part *p, struct error *err);
/* The same of @count segments of one level, of which several are read at the same time. Calls @done
 * with the status of each, in order, until a call does not return 0; returns what it returned. */
int reading_segments(struct reading *r, const struct history_source *list, size_t count,
		     int (*done)(struct reading *r, const struct history_source *source,
				 int status),
		     struct error *err);
/* Parses a line; returns the number of its sample file, 0 if it is damaged. */
uint32_t reading_parse(struct reading *r, const char *line);
/* The number of the sample file with the name of @about, whose parts are those of ->names; it gets
 * its header if it is new. */
uint32_t reading_file(struct reading *r, const struct history_file *about);
/* Takes counts that are left out from ->folded or ->functions, if they are in one of these. */
void reading_unfold(struct reading *r, const struct history_count *left_out);
/* Frees all but ->files, also ->names. */
void reading_done(struct reading *r);
