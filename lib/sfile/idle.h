/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names in samples/NAME/idle, where the sample files go that were not used for long. They are moved
 * in batches: the directory N.files has the sample files of batch N, each at its path below the
 * session. Later the counts of the batches 1 to N are added up in one segment (man ophistory.5),
 * flat.3.1-N, and they are removed. So a reader takes the counts of the segment with the largest N
 * and of the batches after it, and of no others.
 *
 *	session_walk(samples, each, bad, data, err);
 *	r = idle_last(samples, &last, err);
 *	idle_walk(samples, last, each, bad, data, err);
 */
#pragma once

#include "base/error.h"

#include <stdint.h>

struct sname;

/* Where damaged sample files go that cannot be added up; nobody reads them. */
#define IDLE_DAMAGED "damaged"

/* The level of the segment (history/levels.h). */
enum { IDLE_LEVEL = 3 };

/* The number of the batch whose directory is named @entry; 0: it is none. */
uint32_t idle_batch(const char *entry);
/* The last batch in the segment whose file is named @entry; 0: it is none. */
uint32_t idle_segment_last(const char *entry);

/* Finds the last batch whose counts are in a segment; *@ret is 0 if there is none, or if that is
 * not known. 0, or -errno if the directory cannot be read. */
int idle_last(const char *samples, uint32_t *ret, struct error *err);
/* The path to which the sample file that was at @path was moved last; the caller frees. NULL if it
 * was not moved, or is merged. */
char *idle_find(const char *path);
/* The part of the path of a sample file that is below its session, wherever it is; borrowed. NULL
 * if there is none. */
const char *idle_below(const char *path);
/* Calls @each and @bad as session_walk() does, for the sample files in batches after number @after.
 * It must be called after session_walk(): a file may be moved at any time. */
int idle_walk(const char *samples, uint32_t after,
	      int (*each)(const char *path, const struct sname *name, void *),
	      void (*bad)(const char *path, const struct error *why, void *data), void *data,
	      struct error *err);
