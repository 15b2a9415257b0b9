/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hash map from u64 to pointer (open addressing, backward-shift deletion). The map owns its slots,
 * not the values.
 *
 *	struct map m = MAP_INIT;
 *	map_set(&m, pid, proc);
 *	proc = map_get(&m, pid);
 *	map_for_each (&m, slot)
 *		free(slot->value);
 *	map_done(&m);
 *
 * Records whose key is more than a u64 are stored by the hash of that key. Different keys may have
 * the same hash, so map_add() lets a hash have several values, and the caller compares:
 *
 *	struct map texts = MAP_INIT;
 *	char *text;
 *	map_add(&texts, hash_bytes(mine, length), mine);
 *	map_for_each_of (&texts, hash_bytes(wanted, length), text)
 *		if (!strcmp(text, wanted))
 *			puts(text);
 */
#pragma once

#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key;
	void *value; /* NULL: the slot is free */
};

struct map {
	struct map_slot *slots; /* a power of two of them, or NULL while empty */
	size_t room;		/* number of slots */
	size_t count;		/* slots in use, at most half of them */
};

#define MAP_INIT ((struct map){ 0 })

#define map_for_each(m, slot)                                                                      \
	for (struct map_slot *slot = (m)->slots, *slot##_end = slot ? slot + (m)->room : slot;     \
	     slot < slot##_end; slot++)                                                            \
		if (slot->value)

/* Sets @v, a pointer or uintptr_t of the caller's, to each value of @wanted, the one added last
 * first. Afterwards @v has no meaning: leave from within. No values may be removed meanwhile. */
#define map_for_each_of(m, wanted, v)                                                              \
	for (struct map_slot *v##_slot = map_first(m, wanted);                                     \
	     v##_slot && ((v) = (typeof(v))v##_slot->value, true);                                 \
	     v##_slot = map_next(m, v##_slot))

/* The slot of @key that is found first from slot number @i on, or NULL; for the next two. */
static inline struct map_slot *map_seek(const struct map *m, uint64_t key, size_t i)
{
	size_t mask = m->room - 1;

	for (i &= mask; m->slots[i].value; i = (i + 1) & mask)
		if (m->slots[i].key == key)
			return &m->slots[i];
	return NULL;
}

/* The first slot of @key, or NULL. */
static inline struct map_slot *map_first(const struct map *m, uint64_t key)
{
	return m->room ? map_seek(m, key, hash_u64(key)) : NULL;
}

/* The slot after @slot that has the same key, or NULL. */
static inline struct map_slot *map_next(const struct map *m, const struct map_slot *slot)
{
	return map_seek(m, slot->key, (size_t)(slot - m->slots) + 1);
}

/* Bytes of the slots. */
static inline size_t map_memory(const struct map *m)
{
	return m->room * sizeof(*m->slots);
}

/* The value of @key, or NULL. */
void *map_get(const struct map *m, uint64_t key);
/* Sets the value of @key, which must not be NULL; returns the value that was there, or NULL. */
void *map_set(struct map *m, uint64_t key, void *value);
/* Adds @value, which must not be NULL, to those that @key has. */
void map_add(struct map *m, uint64_t key, void *value);
/* Removes @key; returns its value, or NULL if it was not there. Not during map_for_each(). */
void *map_remove(struct map *m, uint64_t key);
/* Removes @value from those of @key; returns whether it was there. Not during map_for_each(). */
bool map_remove_value(struct map *m, uint64_t key, const void *value);
/* Frees the slots; the map is empty and usable again. */
void map_done(struct map *m);
