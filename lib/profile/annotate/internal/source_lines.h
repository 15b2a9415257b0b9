/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What annotated sources are printed from: the samples of the lines of each file, and the functions
 * that start or were inlined on them. Names and counts are in the arena of the struct annotate.
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

struct source_file {
	const char *path;
	uid_t owner;	  /* of the binary that names it; root if one of root names it */
	uint64_t built;	  /* mtime of a binary that names it and is gone, in seconds; 0: none is */
	struct map lines; /* line: its counts */
	uint64_t *counts;
	uint64_t sum;
	bool has_calls; /* some line calls */
	struct head *heads;
	size_t head_count, head_room;
};

struct annotate_source {
	struct annotate *a;
	uid_t owner;	/* of the open image */
	uint64_t built; /* its mtime if it is gone, else 0 */
	struct source_file *files;
	size_t count, room;
	struct map by_hash;    /* of the path: index + 1 */
	struct map by_pointer; /* the same for the strings of the open image */
	struct map calls;      /* inlined calls in the open image, by hash, to their counts */
	struct annotate_calls called; /* what lines call, of all images, if that is wanted */
};
