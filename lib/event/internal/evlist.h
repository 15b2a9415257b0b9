/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list of events that grows while sources of the catalogue add to it. It owns what the arena
 * holds; the events are copied, their strings borrowed.
 *
 *	struct evlist l = { 0 };
 *	evlist_add(&l, &event);
 *	evlist_done(&l);
 */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "event/catalog_types.h"

struct evlist {
	struct catalog_event *events;
	size_t count, room;
	struct map names; /* hash of a name: its index + 1 */
	struct arena arena;
};

/* Adds a copy of @event unless there is one of its name; whether it was added. */
bool evlist_add(struct evlist *l, const struct catalog_event *event);
/* The event called @name, or NULL; borrowed until something is added. */
struct catalog_event *evlist_find(const struct evlist *l, const char *name);
/* Frees everything. */
void evlist_done(struct evlist *l);
