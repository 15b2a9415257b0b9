/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts of sample files in the order in which they were read. A key and step can occur several
 * times: adding them up in a tally (internal/tally.h) takes much longer, as each count is somewhere
 * else in memory, and whoever reads samples adds them up anyway.
 *
 *	struct pile p = { 0 };
 *	pile_add(&p, &(struct history_count){ .file = 1, .key = offset, .count = 1 });
 *	for (i = 0; i < p.count; i++)
 *		sum += p.entries[i].count;
 *	pile_done(&p);
 */
#pragma once

#include "base/mem.h"
#include "history/internal/tally.h"

#include <stddef.h>

struct pile {
	struct history_count *entries;
	size_t count, room;
	size_t *last; /* the number of the last entry of each file, from 1 on; 0: none */
	size_t files, last_room;
};

/* Makes room for the files up to number @file. */
void pile_grow(struct pile *p, uint32_t file);

/* Adds an entry; or its count to the last one of its file, if that has the same key and step. */
static inline void pile_add(struct pile *p, const struct history_count *add)
{
	struct history_count *e;

	if (add->file >= p->files)
		pile_grow(p, add->file);
	e = p->last[add->file] ? &p->entries[p->last[add->file] - 1] : NULL;
	if (e && e->key == add->key && e->step == add->step) {
		if (__builtin_add_overflow(e->count, add->count, &e->count))
			e->count = UINT64_MAX;
		return;
	}
	array_grow(&p->entries, p->count + 1, &p->room);
	p->entries[p->count] = *add;
	p->last[add->file] = ++p->count;
}

/* Moves all entries of a tally, which is then empty, to the pile. */
void pile_take(struct pile *p, struct tally *t);
/* Frees the entries. */
void pile_done(struct pile *p);
