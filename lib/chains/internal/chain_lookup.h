/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash table of the numbers of records in a table of the chain store. It is not stored but built
 * when the file is opened. The caller embeds the struct, compares the records, and frees ->slots.
 *
 *	lookup_reset(&l, count);
 *	lookup_put(&l, hash, number);
 *	for (i = hash & l.mask; (number = l.slots[i]); i = (i + 1) & l.mask) ...
 */
#pragma once

#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { LOOKUP_SLOTS_MIN = 1 << 10 };

struct lookup {
	uint32_t *slots; /* numbers, 0: free */
	uint32_t mask, used;
};

/* Adds a number. */
static inline void lookup_put(struct lookup *l, uint64_t hash, uint32_t number)
{
	uint32_t i = (uint32_t)hash & l->mask;

	while (l->slots[i])
		i = (i + 1) & l->mask;
	l->slots[i] = number;
	l->used++;
}

/* Clears the table and makes room for @count records. */
static inline void lookup_reset(struct lookup *l, uint32_t count)
{
	size_t slots = LOOKUP_SLOTS_MIN;

	while (slots / 2 < count)
		slots *= 2;
	free(l->slots);
	*l = (struct lookup){ xcalloc(slots, sizeof(*l->slots)), (uint32_t)slots - 1, 0 };
}

/* Returns whether the table must be built again, with more room, before another number is added. */
static inline bool lookup_is_full(const struct lookup *l)
{
	return l->used > l->mask / 4 * 3;
}

/* Prefetches the slot of a hash, which is rarely cached. */
static inline void lookup_fetch(const struct lookup *l, uint64_t hash)
{
	__builtin_prefetch(&l->slots[(uint32_t)hash & l->mask], 1);
}
