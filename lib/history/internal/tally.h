/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds up counts by file, key and step of time.
 *
 *	struct tally t = TALLY_INIT;
 *	tally_add(&t, (struct tally_entry){ .file = 1, .key = offset, .count = 1 });
 *	entries = tally_take(&t, &count);	sorted; the caller frees
 *	tally_done(&t);
 */
#pragma once

#include "base/hash.h"

#include <stddef.h>
#include <stdint.h>

struct tally_entry {
	uint64_t key, count;
	uint32_t file; /* number, from 1 on; 0: the slot is free */
	uint32_t step; /* 0 if time is not divided */
};

struct tally {
	struct tally_entry *slots; /* a power of two of them, or NULL */
	size_t mask, used;
};

#define TALLY_INIT ((struct tally){ 0 })

/* Makes room for another entry. */
void tally_grow(struct tally *t);

/* Adds @add.count, with saturation. */
static inline void tally_add(struct tally *t, struct tally_entry add)
{
	struct tally_entry *e;
	size_t i;

	if (t->used >= t->mask / 4 * 3)
		tally_grow(t);
	i = hash_u64(add.key ^ (uint64_t)add.file << 40 ^ (uint64_t)add.step << 20) & t->mask;
	for (;; i = (i + 1) & t->mask) {
		e = &t->slots[i];
		if (e->file == add.file && e->key == add.key && e->step == add.step)
			break;
		if (e->file)
			continue;
		*e = add;
		t->used++;
		return;
	}
	if (__builtin_add_overflow(e->count, add.count, &e->count))
		e->count = UINT64_MAX;
}

/* Returns the entries sorted by file, key and step, and removes them; the caller frees. */
struct tally_entry *tally_take(struct tally *t, size_t *ret_count);
/* Frees the slots; the tally is empty and usable again. */
void tally_done(struct tally *t);
