/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What there is of a history: the generations, N.slices, and the segments that were made of them,
 * flat.LEVEL.FIRST-LAST. There is no other record of it: a segment contains the counts of all
 * generations from FIRST to LAST, and the files that it was made of may be there still. So the
 * counts of a generation are taken from the finest file that has it, and from no other.
 *
 *	struct history_source *list = sources_list(dir, &count);
 *	for (i = 0; i < count; i++)
 *		path = source_path(dir, &list[i]);
 *	free(list);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct history_source {
	uint32_t level;	      /* history/levels.h; 0: a generation */
	uint32_t first, last; /* generations */
	bool is_rolled;	      /* a segment of a coarser level has them, too */
	int64_t written_s;    /* when it was written last, since 1970 */
	uint64_t bytes;
};

/* The sources in @dir, by level, then generation; the caller frees. */
struct history_source *sources_list(const char *dir, size_t *ret_count);
/* The path of the file of slices, or of the segment; the caller frees. */
char *source_path(const char *dir, const struct history_source *s);
/* The number of the next generation: greater than that of any source in @dir. */
uint32_t sources_next(const char *dir);
/* Removes names of generations before @live that have no slices: somebody was killed between the
 * two. */
void sources_tidy(const char *dir, uint32_t live);
/* Removes the files of @s from @dir. */
void source_remove(const char *dir, const struct history_source *s);
