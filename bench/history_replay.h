/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replays the slices of a recorded session into another one, as if a machine went on like that for
 * long. Each slice is one of the recorded ones, drawn at random; for more than two CPUs, several of
 * them together. Nothing stays as it was: programs that ran for a short time get new names all the
 * time, others are built again now and then, and of the chains that were sampled once, some become
 * others. A replay owns what it was made of.
 *
 *	how = (struct history_replay_how){ "SESSION/samples/current", dir, 2, false, pack_pairs };
 *	r = history_replay_new(&how);
 *	history_replay_hour(r, begin_ms, &live, &live_chains);
 *	history_replay_free(r);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When a replay begins: an hour, a day and a week do (ophistory(5)). */
#define HISTORY_REPLAY_BEGIN_MS INT64_C(1767225600000)
/* Precedes the version in the names of images that have a new one all the time. */
#define HISTORY_REPLAY_SHORT '~'

struct history_replay;

/* What is replayed. */
struct history_replay_how {
	const char *samples; /* the recorded session */
	const char *dir;     /* where it is replayed to */
	unsigned int cpus;
	bool flat_only; /* without call chains */
	/* Called when there are so many pairs of files that the daemon would have them packed,
	 * with the generations that are not complete. Must be set unless ->flat_only is. */
	void (*crowded)(uint32_t live, uint32_t live_chains, int64_t now_ms, void *data);
	void *data;
};

/* Begins a replay. Ends the program if the session cannot be read. Borrows @how until the replay is
 * freed. */
struct history_replay *history_replay_new(const struct history_replay_how *how);
void history_replay_free(struct history_replay *r);
/* Writes an hour of slices from @begin_ms on. Sets the generations that are not complete. */
void history_replay_hour(struct history_replay *r, int64_t begin_ms, uint32_t *ret_live,
			 uint32_t *ret_live_chains);
/* The samples that were written so far. */
uint64_t history_replay_samples(const struct history_replay *r);
/* Prints what was written since the last call: samples, new images, pairs of files. */
void history_replay_print(struct history_replay *r);
/* How often a lasting image, whose name before it was built again has @length bytes, was built
 * until @now_ms. */
uint64_t history_replay_builds(const char *name, size_t length, int64_t now_ms);
/* The name that it has then; the caller frees. */
char *history_replay_built(const char *name, size_t length, uint64_t builds);
