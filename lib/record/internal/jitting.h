/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples in JIT code. They wait here until the process has described its code (jit/jit_source.h),
 * because compilers write late. Then each counts, in the sample file of the region, at the code
 * that was at its address at its time. The code is written next to the region as TGID.jo, which
 * reports read, and also for call chains, whose regions may have no samples. Times are those of
 * syncs: code that comes and goes between two syncs is distinguished only by its order. Samples
 * wait for a limited time and in limited number, and then count by address alone.
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

/* @root: parent of /proc. @samples: the session's directory, copied; the rest is borrowed. Caller
 * frees. */
struct jitting *jitting_new(const char *root, const char *samples, struct sampled_images *binaries,
			    struct store *store);
/* Frees it; what still waits is lost. NULL is fine. */
void jitting_free(struct jitting *j);

/* Takes a sample in the anonymous memory @key->image of a process. Returns false if the process is
 * unknown; the sample must then be counted like any other. */
bool jitting_add(struct jitting *j, const struct store_key *key, uint64_t address, uint64_t weight);
/* Notes that a frame of a call chain is at *@offset in the anonymous memory *@image, so its code is
 * looked up like that of samples. Moves the frame to the place of the code that is there now, if it
 * is already known: chains do not wait. */
void jitting_place(struct jitting *j, struct sampled_image **image, uint64_t *offset);
/* Reads new descriptions and counts the samples that can be attributed; with @all, counts all.
 * @now: CLOCK_MONOTONIC, ns. */
void jitting_sync(struct jitting *j, uint64_t now, bool all);
/* Writes TGID.jo of all processes that have new code. */
void jitting_write(struct jitting *j);
/* Samples not counted because no sample file could be opened. */
uint64_t jitting_lost(const struct jitting *j);
/* Forgets all processes and their regions, because the session goes away. Waiting samples are
 * lost. */
void jitting_forget(struct jitting *j);
