/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/map.h"

#include "base/mem.h"

/* The first free slot for @key; the table is never full. */
static struct map_slot *free_slot(const struct map *m, uint64_t key)
{
	size_t mask = m->room - 1, i = hash_u64(key) & mask;

	while (m->slots[i].value)
		i = (i + 1) & mask;
	return &m->slots[i];
}

/* Makes room for one more value. */
static void make_room(struct map *m)
{
	struct map old = *m;
	size_t i, start = 0;

	if ((m->count + 1) * 2 <= m->room)
		return;
	m->room = old.room ? old.room * 2 : 16;
	m->slots = xcalloc(m->room, sizeof(*m->slots));
	/* From a free slot on, values of one key come in their order. */
	while (old.room && old.slots[start].value)
		start++;
	for (i = 0; i < old.room; i++) {
		const struct map_slot *slot = &old.slots[(start + i) & (old.room - 1)];

		if (slot->value)
			*free_slot(m, slot->key) = *slot;
	}
	free(old.slots);
}

void *map_get(const struct map *m, uint64_t key)
{
	const struct map_slot *slot = map_first(m, key);

	return slot ? slot->value : NULL;
}

void *map_set(struct map *m, uint64_t key, void *value)
{
	struct map_slot *slot = map_first(m, key);
	void *old;

	if (slot) {
		old = slot->value;
		slot->value = value;
		return old;
	}
	make_room(m);
	*free_slot(m, key) = (struct map_slot){ key, value };
	m->count++;
	return NULL;
}

void map_add(struct map *m, uint64_t key, void *value)
{
	struct map_slot *slot;

	make_room(m);
	/* The newest goes first: the others each move to the next slot of the key. */
	for (slot = map_first(m, key); slot; slot = map_next(m, slot)) {
		void *moved = slot->value;

		slot->value = value;
		value = moved;
	}
	*free_slot(m, key) = (struct map_slot){ key, value };
	m->count++;
}

/* Empties a slot, and pulls later members of the run back, so that no search stops there. */
static void remove_slot(struct map *m, struct map_slot *hole)
{
	size_t mask = m->room - 1, i, home;

	for (i = (size_t)(hole - m->slots + 1) & mask; m->slots[i].value; i = (i + 1) & mask) {
		home = hash_u64(m->slots[i].key) & mask;
		if (((i - home) & mask) < ((i - (size_t)(hole - m->slots)) & mask))
			continue;
		*hole = m->slots[i];
		hole = &m->slots[i];
	}
	hole->value = NULL;
	m->count--;
}

void *map_remove(struct map *m, uint64_t key)
{
	struct map_slot *slot = map_first(m, key);
	void *old = slot ? slot->value : NULL;

	if (slot)
		remove_slot(m, slot);
	return old;
}

bool map_remove_value(struct map *m, uint64_t key, const void *value)
{
	struct map_slot *slot = map_first(m, key);

	while (slot && slot->value != value)
		slot = map_next(m, slot);
	if (slot)
		remove_slot(m, slot);
	return slot != NULL;
}

void map_done(struct map *m)
{
	free(m->slots);
	*m = MAP_INIT;
}
