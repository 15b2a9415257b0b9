/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/internal/evlist.h"

#include "base/hash.h"
#include "base/mem.h"

#include <string.h>

static uint64_t hash_name(const char *name)
{
	return hash_bytes(name, strlen(name));
}

struct catalog_event *evlist_find(const struct evlist *l, const char *name)
{
	uintptr_t place;

	map_for_each_of(&l->names, hash_name(name),
			place) if (!strcmp(l->events[place - 1].name,
					   name)) return &l->events[place - 1];
	return NULL;
}

void evlist_append(struct evlist *l, const struct catalog_event *event)
{
	array_grow(&l->events, l->count + 1, &l->room);
	l->events[l->count++] = *event;
	if (!evlist_find(l, event->name))
		map_add(&l->names, hash_name(event->name), (void *)(uintptr_t)l->count);
}

bool evlist_add(struct evlist *l, const struct catalog_event *event)
{
	if (evlist_find(l, event->name))
		return false;
	evlist_append(l, event);
	return true;
}
