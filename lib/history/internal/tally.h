/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds up counts by file, key and step of time.
 *
 *	struct tally t = TALLY_INIT;
 *	tally_add(&t, (struct history_count){ .file = 1, .key = offset, .count = 1 });
 *	entries = tally_take(&t, &count);	sorted; the caller frees
 *	tally_done(&t);
 */
#pragma once

#include "base/hash.h"
#include "history/history_name.h"

#include <stddef.h>
#include <stdint.h>

struct tally {
	struct history_count *slots; /* a power of two of them, or NULL; ->file is 0 if free */
	size_t mask, used;
};

#define TALLY_INIT ((struct tally){ 0 })

/* Makes room for another entry. */
void tally_grow(struct tally *t);

/* Adds @add.count, with saturation. */
static inline void tally_add(struct tally *t, struct history_count add)
{
	struct history_count *e;
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
struct history_count *tally_take(struct tally *t, size_t *ret_count);
/* Frees the slots; the tally is empty and usable again. */
void tally_done(struct tally *t);
