/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/internal/evlist.h"

#include "base/hash.h"
#include "base/mem.h"

#include <string.h>

/* Where @name is or belongs: names of one hash follow each other. */
static uint64_t key_of(const struct evlist *l, const char *name, size_t *ret_place)
{
	uint64_t key = hash_bytes(name, strlen(name));
	size_t place;

	while ((place = (uintptr_t)map_get(&l->names, key)) &&
	       strcmp(l->events[place - 1].name, name) != 0)
		key++;
	*ret_place = place;
	return key;
}

bool evlist_add(struct evlist *l, const struct catalog_event *event)
{
	size_t place;
	uint64_t key = key_of(l, event->name, &place);

	if (place)
		return false;
	array_grow(&l->events, l->count + 1, &l->room);
	l->events[l->count++] = *event;
	(void)map_set(&l->names, key, (void *)(uintptr_t)l->count);
	return true;
}

struct catalog_event *evlist_find(const struct evlist *l, const char *name)
{
	size_t place;

	(void)key_of(l, name, &place);
	return place ? &l->events[place - 1] : NULL;
}

void evlist_done(struct evlist *l)
{
	free(l->events);
	map_done(&l->names);
	arena_done(&l->arena);
	*l = (struct evlist){ 0 };
}
