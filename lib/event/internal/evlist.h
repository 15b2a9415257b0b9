/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growing list of events with lookup by name, filled from the catalogue's sources. Events are
 * copied; their strings are borrowed, and sources can allocate them in the list's arena, which
 * lives as long as the list.
 *
 *	struct evlist l = { 0 };
 *	evlist_add(&l, &event);
 */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "event/catalog_types.h"

struct evlist {
	struct catalog_event *events;
	size_t count, room;
	struct map names; /* hash of a name to its index + 1 */
	struct arena arena;
};

/* Adds a copy of @event. If the list has one of that name, the name still means that one. */
void evlist_append(struct evlist *l, const struct catalog_event *event);
/* Adds a copy of @event unless the list has one of that name. Returns whether it was added. */
bool evlist_add(struct evlist *l, const struct catalog_event *event);
/* Returns the event called @name, or NULL; borrowed until the next evlist_add(). */
struct catalog_event *evlist_find(const struct evlist *l, const char *name);
