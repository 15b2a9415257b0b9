/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to the store (store.h): its state, and what adds to its open files.
 */
#pragma once

#include "record/store/store_file.h"
#include "record/store/store_opener.h"
#include "base/macro.h"
#include "base/map.h"
#include "sfile/odb.h"

enum { UNDER_WAY = 32 }; /* pending additions */

/* A pending addition to an open file. */
struct addition {
	struct store_file *file;
	uint64_t key;
	uint32_t count;
};

struct store {
	struct store_opener *opener;
	struct relief *relief; /* or NULL */
	struct past *past;     /* or NULL */
	size_t mapped_max, open_max, waiting_max;
	size_t open_most;   /* ->open_max where nothing lacks */
	uint64_t regain_at; /* when ->open_max rises again, while it is lower */

	struct map by_hash; /* hash of the key to files */
	struct store_list open, closed;
	struct store_file *growing;  /* the last used file: its ->mapped may be outdated */
	size_t open_count, mapped;   /* open files, and their bytes */
	size_t opening_count;	     /* files that a thread opens */
	size_t waiting_files;	     /* files with waiting counts, */
	size_t waiting, closed_size; /* number of these counts, and bytes of all closed files */
	uint64_t tick;		     /* calls of store_get() */
	unsigned int may_open;	     /* files, until the next turn */
	bool is_ending;		     /* nothing may wait any longer */

	struct addition pending[UNDER_WAY];
	unsigned int pending_count;

	size_t sample_events;
	uint64_t lost[STORE_LOSS_COUNT_];
};

/* Counts what could not be written. */
static inline void add_lost(struct store *s, const struct store_file *f, uint32_t count)
{
	bool is_sample = f->key.event < s->sample_events;

	s->lost[is_sample ? STORE_LOST_SAMPLES : STORE_LOST_EXTENDED] += count;
}

/* As in store.h. */
void store_settle(struct store *s);

/* Adds to an open file, in a while. */
static inline void add_open(struct store *s, struct store_file *f, uint64_t key, uint32_t count)
{
	if (_unlikely_(s->pending_count == UNDER_WAY))
		store_settle(s);
	s->pending[s->pending_count++] = (struct addition){ f, key, count };
}
