/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples in code that processes made while they ran. They wait here for the process to say what it
 * put where (jit/jit_source.h), for compilers write late; then they go to the place of the code
 * that lay at their address at their time, in the sample file of the region, and all that code is
 * written beside the region as TGID.jo, which reports read. Times are those of the syncs: code that
 * comes and goes between two is told apart by order only. What a sample waits is bounded, in time
 * and in number; then it counts by its address alone.
 *
 *	if (jitting_add(j, &key, address, weight))
 *		...			it is taken
 *	jitting_sync(j, now, false);	after each drain
 *	jitting_write(j);		now and then
 */
#pragma once

#include "record/internal/store.h"

#include <stdbool.h>

struct sampled_images;
struct jitting;

/* @root: below which /proc lies. @samples: the session's directory, copied; the rest is borrowed.
 * Caller frees. */
struct jitting *jitting_new(const char *root, const char *samples, struct sampled_images *binaries,
			    struct store *store);
/* Frees it; what still waits is lost. NULL is fine. */
void jitting_free(struct jitting *j);

/* Takes a sample in anonymous memory, @key->image, of a process; false if no process is known to
 * have made that region, and the sample must be counted as any other. */
bool jitting_add(struct jitting *j, const struct store_key *key, uint64_t address, uint64_t weight);
/* Moves a frame of a call chain, at *@offset in the anonymous memory *@image, to the place of its
 * own that the code there now has, as far as that is known already: chains do not wait. */
void jitting_place(const struct jitting *j, struct sampled_image **image, uint64_t *offset);
/* Reads what was written since, counts the samples that can be placed, with @all all of them.
 * @now: CLOCK_MONOTONIC, ns. */
void jitting_sync(struct jitting *j, uint64_t now, bool all);
/* Writes TGID.jo of all processes that have new code. */
void jitting_write(struct jitting *j);
/* Samples that could not be counted so far, as no sample file could be opened. */
uint64_t jitting_lost(const struct jitting *j);
/* Forgets all processes, with their regions: the session goes away. What waits is lost. */
void jitting_forget(struct jitting *j);
