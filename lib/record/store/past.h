/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts for the history of the session what is counted in its sample files.
 *
 *	past_count(p, &key, &mark, offset, 1);
 *	past_end_slice(p, &slice, err);
 */
#pragma once

#include "base/error.h"
#include "record/store/store_types.h"

#include <stddef.h>

struct past;
struct slice;
struct store_opener;

/* Caller frees. The configuration is that of the store; @opener, the store's, is borrowed. */
struct past *past_new(const struct store_config *config, const struct store_opener *opener);
/* NULL is fine. */
void past_free(struct past *p);

/* Counts @count at @offset of the file of @key. @mark is the file's, all-zero at first. */
void past_count(struct past *p, const struct store_key *key, struct past_mark *mark,
		uint64_t offset, uint64_t count);
/* Whether so much was counted that the slice should end early. */
bool past_is_full(const struct past *p);
/* Writes what was counted since the last slice. 0 or -errno: then it is in no slice. *@slice may be
 * moved, as by history_writer_end(). */
int past_end_slice(struct past *p, struct slice *slice, struct error *err);
/* The first generation of the hour, as history_writer_generation(). */
uint32_t past_generation(const struct past *p);
/* Closes the files, as history_writer_leave(). */
void past_leave(struct past *p);
/* Bytes of memory. */
size_t past_memory(const struct past *p);
