/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What there is of a history: the generations, such as N.slices, and the segments that were made of
 * them, such as flat.LEVEL.FIRST-LAST. Those of level 0 have slices as they were written. There is
 * no other record of it: a segment contains the counts of all generations from FIRST to LAST, and
 * the files that it was made of may be there still. So the counts of a generation are taken from
 * one file that has it, and from no other: the finest one, unless the window is so long that a
 * coarser one has the same answer.
 *
 *	struct history_source *list = NULL;
 *	int r = sources_list(dir, &history_flat, &list, &count, err);
 *	for (i = 0; r == 0 && i < count; i++)
 *		path = source_path(dir, &list[i]);
 *	free(list);
 */
#pragma once

#include "history/window.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct history_kind;

struct history_source {
	const struct history_kind *kind;
	uint32_t level;	      /* history/levels.h */
	uint32_t first, last; /* generations */
	bool is_segment;      /* of several generations; else it is a generation, of level 0 */
	bool is_rolled;	      /* a segment of a coarser level has them, too */
	bool is_packed;	      /* a segment of level 0 has the generation, too */
	int64_t written_s;    /* when it was written last, since 1970 */
	uint64_t bytes;
};

/* How often a reader lists them because files were rolled up and removed meanwhile. On a busy
 * machine it may wait in the middle of each time for longer than the next file takes to vanish. */
enum { SOURCES_TRIES_MAX = 100 };

/* Lists the sources in @dir, by level, then generation, segments first; the caller frees. A missing
 * directory has none. 0, or -errno: from a part of a list, what is in none of its files would be
 * taken for what nothing has. */
int sources_list(const char *dir, const struct history_kind *kind, struct history_source **ret,
		 size_t *ret_count, struct error *err);
/* The path of the first file of the generation, or of the segment; the caller frees. */
char *source_path(const char *dir, const struct history_source *s);
/* When the slices of @s begin and end. 0 or -errno: -ENODATA if it has none. */
int source_span(const char *dir, const struct history_source *s, struct window *ret);
/* The slice of @s that has the instant @at_ms. 0 or -errno: -ENODATA if none has it. */
int source_slice(const char *dir, const struct history_source *s, int64_t at_ms,
		 struct window *ret);
/* A window is long for a level if it has at least so many times the length of its segments. */
enum { SOURCES_SPAN_PARTS = 8 };
/* The coarsest level that a window is long for; 0: none. What its segments fold is then too little
 * to be seen in the window. */
unsigned int sources_level(const struct history_source *list, size_t count, const struct window *w);
/* The segments of a level whose slices are all in a window; the caller frees. */
struct history_source *sources_inside(const char *dir, const struct history_source *list,
				      size_t count, unsigned int level, const struct window *w,
				      size_t *ret_count);
/* Finds the generations of @dir whose first file is gone although others of it are there, and which
 * neither a segment nor a sum has, of a kind with sums: what is removed is in a sum before, and its
 * first file goes first. So these were not removed, unless their writer was killed while it made
 * them. Their numbers ascend; the caller frees. Returns 0 or -errno. */
int sources_lost(const char *dir, const struct history_kind *kind, uint32_t **ret,
		 size_t *ret_count, struct error *err);
/* Finds the number of the next generation: greater than that of any source, or sum, in @dir, also
 * of those that were lost; 0 if there is none. Returns 0 or -errno. */
int sources_next(const char *dir, const struct history_kind *kind, uint32_t *ret,
		 struct error *err);
/* Finds the sum of all generations up to the largest number, whose files may be gone. 1, 0 if there
 * is none, or -errno. Readers without a window use it, and the generations after it. */
int sources_sum(const char *dir, uint32_t *ret_last, struct error *err);
/* The path of the sum of the generations up to @last; the caller frees. */
char *source_sum_path(const char *dir, uint32_t last);
/* Removes the sums of fewer generations than up to @last. */
void sources_remove_sums(const char *dir, uint32_t last);
/* Removes files of generations before @live that do not exist without their first file: somebody
 * was killed while they were made or removed. */
void sources_tidy(const char *dir, const struct history_kind *kind, uint32_t live);
/* Removes the files of @s from @dir. */
void source_remove(const char *dir, const struct history_source *s);
