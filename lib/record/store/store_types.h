/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types shared by the store of sample files and its opener: the key of a file, and the
 * configuration common to all files of a session. Images, events and strings are borrowed.
 */
#pragma once

#include "base/hash.h"
#include "event/event.h"
#include "record/store/sampled_image.h"
#include "sfile/sname.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relief;

/* The key of a sample file; fields that samples are not separated by are SNAME_ALL. */
struct store_key {
	struct sampled_image *app, *image;
	uint32_t event;		/* index */
	struct sname_task task; /* equal cgroups, and names, are one string */
};

/* The number that a sample file has in the session's history; all-zero at first. */
struct past_mark {
	uint32_t epoch, number;
};

static inline uint64_t store_key_hash(const struct store_key *k)
{
	uint64_t images = (uint64_t)k->app->id << 32 | k->image->id;
	uint64_t rest = (uint64_t)k->event << 32 | (uint32_t)k->task.cpu;
	uint64_t task = (uint64_t)k->task.tgid << 32 ^ (uint64_t)k->task.tid;

	if (k->task.cgroup)
		rest = hash_add(rest, (uintptr_t)k->task.cgroup);
	if (k->task.comm)
		rest = hash_add(rest, (uintptr_t)k->task.comm);
	return hash_u64(images) ^ hash_u64(rest * 0x9e3779b97f4a7c15ULL + task);
}

static inline bool store_key_equal(const struct store_key *a, const struct store_key *b)
{
	return a->image == b->image && a->app == b->app && a->event == b->event &&
	       sname_task_equal(&a->task, &b->task);
}

/* Kinds of counts that could not be written. */
enum store_loss {
	STORE_LOST_SAMPLES,
	STORE_LOST_EXTENDED, /* of events that are not counted in samples */
	STORE_LOSS_COUNT_
};

struct store_config {
	const char *samples;	    /* the session's directory; copied */
	const struct event *events; /* borrowed for the store's life */
	uint32_t cpu_type;
	double cpu_mhz;
	size_t sample_events;  /* the first events, whose counts are samples */
	size_t mapped_max;     /* bytes of open files; 0: default */
	uint64_t keep_ms;      /* how long to keep the history; 0: there is none */
	unsigned int open_max; /* 0: by the descriptor limit, which is raised as far as allowed */
	bool in_turns;	       /* the caller's loop calls store_turn(): a thread opens files */
	struct relief *relief; /* while files are used; borrowed, or NULL */
};
