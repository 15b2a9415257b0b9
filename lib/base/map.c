/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/map.h"

#include "base/hash.h"
#include "base/mem.h"

/* The slot that holds @key, or the free one where it would go; the table is never full. */
static struct map_slot *slot_of(const struct map *m, uint64_t key)
{
	size_t mask = m->room - 1, i = hash_u64(key) & mask;

	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & mask;
	return &m->slots[i];
}

static void grow(struct map *m)
{
	struct map old = *m;

	m->room = old.room ? old.room * 2 : 16;
	m->slots = xcalloc(m->room, sizeof(*m->slots));
	map_for_each (&old, slot)
		*slot_of(m, slot->key) = *slot;
	free(old.slots);
}

void *map_get(const struct map *m, uint64_t key)
{
	return m->room ? slot_of(m, key)->value : NULL;
}

void *map_set(struct map *m, uint64_t key, void *value)
{
	struct map_slot *slot;
	void *old;

	if ((m->count + 1) * 2 > m->room)
		grow(m);
	slot = slot_of(m, key);
	old = slot->value;
	m->count += !old;
	*slot = (struct map_slot){ key, value };
	return old;
}

void *map_remove(struct map *m, uint64_t key)
{
	struct map_slot *hole = m->room ? slot_of(m, key) : NULL;
	void *old = hole ? hole->value : NULL;
	size_t mask = m->room - 1, i, home;

	if (!old)
		return NULL;
	/* Pull later members of the run back, so that no search stops at the hole. */
	for (i = (size_t)(hole - m->slots + 1) & mask; m->slots[i].value; i = (i + 1) & mask) {
		home = hash_u64(m->slots[i].key) & mask;
		if (((i - home) & mask) < ((i - (size_t)(hole - m->slots)) & mask))
			continue;
		*hole = m->slots[i];
		hole = &m->slots[i];
	}
	hole->value = NULL;
	m->count--;
	return old;
}

void map_done(struct map *m)
{
	free(m->slots);
	*m = MAP_INIT;
}
