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

enum {
	/* Number of pending additions, and the distance between the prefetch steps of one. */
	UNDER_WAY = 32,
	STEP = 10
};

/* A pending addition to an open file, whose memory is being prefetched. */
struct addition {
	struct store_file *file; /* NULL: none */
	uint64_t key;
	uint32_t count;
};

struct store {
	struct store_opener *opener;
	struct past *past; /* or NULL */
	size_t mapped_max, open_max, waiting_max;

	struct map by_hash; /* hash of the key to files */
	struct store_list open, closed;
	struct store_file *growing;  /* the last used file: its ->mapped may be outdated */
	size_t open_count, mapped;   /* open files, and their bytes */
	size_t opening_count;	     /* files that a thread opens */
	size_t waiting_files;	     /* files with waiting counts, */
	size_t waiting, closed_size; /* number of these counts, and bytes of all closed files */
	uint64_t tick;		     /* calls of store_get() */
	unsigned int may_open;	     /* files, until the next turn */

	struct addition ring[UNDER_WAY];
	unsigned int ring_at; /* index of the oldest addition, and of the next one */

	size_t sample_events;
	uint64_t lost[STORE_LOSS_COUNT_];
};

/* Counts what could not be written. */
static inline void add_lost(struct store *s, const struct store_file *f, uint32_t count)
{
	bool is_sample = f->key.event < s->sample_events;

	s->lost[is_sample ? STORE_LOST_SAMPLES : STORE_LOST_EXTENDED] += count;
}

/* Does a pending addition. */
static inline void finish(struct store *s, struct addition *a)
{
	int r = odb_add(a->file->db, a->key, a->count);

	if (_unlikely_(r < 0)) {
		add_lost(s, a->file, a->count);
		store_opener_complain(s->opener, &a->file->key, r);
	}
	a->file = NULL;
}

/* Prefetches memory for the addition @age calls ago. */
static inline void fetch(struct store *s, unsigned int age, enum odb_step step)
{
	const struct addition *a = &s->ring[(s->ring_at - age) % UNDER_WAY];

	if (_likely_(a->file))
		odb_prefetch(a->file->db, a->key, step);
}

/* Adds to an open file, in a while. */
static inline void add_open(struct store *s, struct store_file *f, uint64_t key, uint32_t count)
{
	struct addition *a = &s->ring[s->ring_at % UNDER_WAY];

	if (_likely_(a->file))
		finish(s, a);
	*a = (struct addition){ f, key, count };
	fetch(s, 0, ODB_STEP_BUCKET);
	fetch(s, STEP, ODB_STEP_FIRST);
	fetch(s, 2 * STEP, ODB_STEP_SECOND);
	s->ring_at++;
}
