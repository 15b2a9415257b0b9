/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the histories of a session differ in: the flat one, of its sample files, and the one of its
 * call chains. Both consist of generations, as they are written, and of the segments that were made
 * of these (man ophistory.5), and have the same levels.
 *
 *	r = sources_list(dir, &history_flat, &list, &count, err);
 */
#pragma once

#include "history/levels.h"
#include "history/segment_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct segment;
struct sname_image;

enum { HISTORY_KIND_FILES = 4 };

/* Finds what is known about an image. */
typedef const void *history_find_image(void *data, const struct sname_image *image, bool is_kernel);

/* A file of a generation, whose name is its number between two texts; NULL: there is none. */
struct history_kind_file {
	const char *before, *after;
};

struct history_kind {
	const char *directory; /* below samples/NAME */
	const char *mark;      /* the names of its segments begin with it */
	/* The first one makes the generation exist. */
	struct history_kind_file files[HISTORY_KIND_FILES];
	unsigned int clock; /* which of the files shows when it was written last */
	int64_t longer_ms;  /* what is kept at a level is kept so much longer */
	/* What has less than this part of the samples of a segment is folded; 0: nothing is. */
	uint64_t parts[HISTORY_LEVELS];
	segment_other *other; /* what rare roots are folded into */
	/* Calls @find with the image that a line of its names is about, and returns what that
	 * does. NULL: the line is about none, or damaged. */
	const void *(*image)(const char *line, history_find_image *find, void *data);
	/* Once there are so many closed generations, these are made one segment of level 0, because
	 * they are large; 0: never. */
	unsigned int packs;
	/* Reads the slices of the closed generation @number into @ret, which the caller frees. 0 or
	 * -errno; what is damaged is left out, and its bytes are added to *@damaged. */
	int (*to_segment)(const char *dir, uint32_t number, struct segment **ret, size_t *damaged);
	/* The same, with all that the generation counted in one slice, of generation 0. A kind that
	 * has it keeps the sum of all generations (history/history_source.h). NULL: it does not. */
	int (*to_sum)(const char *dir, uint32_t number, struct segment **ret, size_t *damaged);
};

/* The functions of the images of a session. It is static, as a kind is. */
struct history_functions {
	/* Opens those of the session at @samples; the caller closes. */
	void (*open)(const char *samples, struct segment_functions *ret);
	void (*close)(struct segment_functions *f);
};

/* The kind of samples/NAME/history. */
extern const struct history_kind history_flat;
