/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds up counts by file and key.
 *
 *	struct tally t = TALLY_INIT;
 *	tally_add(&t, file, key, 1);
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
};

struct tally {
	struct tally_entry *slots; /* a power of two of them, or NULL */
	size_t mask, used;
};

#define TALLY_INIT ((struct tally){ 0 })

/* Makes room for another entry. */
void tally_grow(struct tally *t);

/* Adds @count, with saturation. */
static inline void tally_add(struct tally *t, uint32_t file, uint64_t key, uint64_t count)
{
	struct tally_entry *e;
	size_t i;

	if (t->used >= t->mask / 4 * 3)
		tally_grow(t);
	for (i = hash_u64(key ^ (uint64_t)file << 40) & t->mask;; i = (i + 1) & t->mask) {
		e = &t->slots[i];
		if (e->file == file && e->key == key)
			break;
		if (e->file)
			continue;
		e->file = file;
		e->key = key;
		t->used++;
		break;
	}
	if (__builtin_add_overflow(e->count, count, &e->count))
		e->count = UINT64_MAX;
}

/* Returns the entries sorted by file, then key, and removes them; the caller frees. */
struct tally_entry *tally_take(struct tally *t, size_t *ret_count);
/* Frees the slots; the tally is empty and usable again. */
void tally_done(struct tally *t);
