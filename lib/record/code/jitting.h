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
 */
#pragma once

#include "record/store/store.h"

#include <stdbool.h>

struct attacher;
struct driver;
struct driver_ops;
struct jit_code;
struct jit_reader_stats;
struct sampled_images;
struct jitting;

struct jitting_config {
	const char *root;		     /* parent of /proc */
	const char *samples;		     /* the session's directory */
	uint64_t memory;		     /* limit for the code of all processes, 0: a default */
	const struct driver_ops *const *ops; /* as in struct record_config */
	struct driver *const *driver;
	struct attacher *attacher; /* borrowed; NULL: no virtual machine is asked for names */
	struct sampled_images *binaries;
	struct store *store;
	struct relief *relief; /* while answers are awaited; borrowed, or NULL */
};

/* @config: its strings are copied, the rest is borrowed. Caller frees. */
struct jitting *jitting_new(const struct jitting_config *config);
/* Frees it; what still waits is lost. NULL is fine. */
void jitting_free(struct jitting *j);

/* Takes a sample in the anonymous memory @key->image of a process. Returns false if the process is
 * unknown; the sample must then be counted like any other. */
bool jitting_add(struct jitting *j, const struct store_key *key, uint64_t address, uint64_t weight);
/* Notes what the driver has found at ->address of process @tgid now, with its ->name; the rest is
 * not used. A process that describes its code without having been asked is believed instead. */
void jitting_name(struct jitting *j, uint32_t tgid, const struct jit_code *code);
/* Notes that a frame of a call chain is at *@offset in the anonymous memory *@image, so its code is
 * looked up like that of samples. Moves the frame to the place of the code that is there now, if it
 * is already known: chains do not wait. */
void jitting_place(struct jitting *j, struct sampled_image **image, uint64_t *offset);
/* Reads new descriptions, counts the samples that can be attributed, and has TGID.jo of processes
 * with new code written (jit_writer.h): some now, the rest in the next calls. With @all, counts all
 * samples, and returns when all is written. @now: CLOCK_MONOTONIC, ns. */
void jitting_sync(struct jitting *j, uint64_t now, bool all);
/* Counts all samples by what is known. All is written, and then all processes are forgotten, in the
 * next calls of jitting_tend(): their code is looked up again if it is sampled again. */
void jitting_settle(struct jitting *j, uint64_t now);
/* Searches for new descriptions of all code that something waits for. */
void jitting_search(struct jitting *j, uint64_t now);
/* Returns whether there are descriptions that the next calls of jitting_sync() will read. */
bool jitting_reads(const struct jitting *j);
/* Counts all samples by what is known. All that is new is written in the next calls of
 * jitting_tend(). */
void jitting_flush(struct jitting *j, uint64_t now);
/* Has all new code written, and waits for that. */
void jitting_write_all(struct jitting *j, uint64_t now);
/* Does a part of what jitting_settle() and jitting_flush() left; returns whether there is more. */
bool jitting_tend(struct jitting *j, uint64_t now);
/* Sums of weights: of samples not counted because no sample file could be opened, and of those that
 * wait for their code. */
struct jitting_samples {
	uint64_t lost, waiting;
};
struct jitting_samples jitting_samples(const struct jitting *j);
/* What was left out of the code. */
void jitting_stats(const struct jitting *j, struct jit_reader_stats *ret);
/* Keeps the images that samples and code wait for from being swept (sampled_image_sweep()). */
void jitting_use_images(const struct jitting *j);
/* Calls @use for each cgroup and name of a thread (NULL: none) that samples and code wait for. */
void jitting_each_name(const struct jitting *j,
		       void (*use)(const char *cgroup, const char *comm, void *data), void *data);
/* Forgets all processes and their regions, because the session goes away. Waiting samples are
 * lost. */
void jitting_forget(struct jitting *j);
