/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to the store (store.h): a sample file that it knows, and lists of them.
 */
#pragma once

#include "record/store/store_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct odb;
struct sfile;

/* A count for a closed file; 12 bytes, because there are many. */
struct waiting {
	uint32_t key_low, key_high, count;
};

/* A sample file, open or with waiting counts. */
struct store_file {
	struct store_key key;
	struct odb *db; /* NULL: closed */
	struct sfile *sf;
	size_t mapped; /* bytes, as of the last account() */
	uint64_t hash;
	struct store_file *newer, *older; /* in its list */
	uint64_t used_at;		  /* tick of the last use */
	uint64_t opened_at;		  /* tick */
	uint64_t retry_at;		  /* set by the opener; 0: did not fail */
	struct waiting *waiting;
	uint32_t waiting_count, waiting_room;
	uint64_t waiting_since; /* tick */
	bool opening;		/* a thread opens it: it stays as it is */
	struct past_mark past_mark;
};

/* Files ordered by last use. */
struct store_list {
	struct store_file *newest, *oldest;
};

static inline void list_remove(struct store_list *l, struct store_file *f)
{
	*(f->newer ? &f->newer->older : &l->newest) = f->older;
	*(f->older ? &f->older->newer : &l->oldest) = f->newer;
}

static inline void list_push(struct store_list *l, struct store_file *f)
{
	f->newer = NULL;
	f->older = l->newest;
	*(l->newest ? &l->newest->newer : &l->oldest) = f;
	l->newest = f;
}
