/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hash map from u64 to pointer (open addressing, backward-shift deletion). The map owns its slots,
 * never what the values point at. Records with several key fields hash them to one u64 and chain.
 *
 *	struct map m = MAP_INIT;
 *	map_set(&m, pid, proc);
 *	proc = map_get(&m, pid);
 *	map_for_each (&m, slot)
 *		free(slot->value);
 *	map_done(&m);
 */
#pragma once

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

/* The value of @key, or NULL. */
void *map_get(const struct map *m, uint64_t key);
/* Sets the value of @key, which must not be NULL; returns the value that was there, or NULL. */
void *map_set(struct map *m, uint64_t key, void *value);
/* Removes @key; returns its value, or NULL if it was not there. Not during map_for_each(). */
void *map_remove(struct map *m, uint64_t key);
/* Frees the slots; the map is empty and usable again. */
void map_done(struct map *m);
