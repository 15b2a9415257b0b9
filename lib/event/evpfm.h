/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events that libpfm4 knows, for this CPU and for all others that the library was built for.
 * libpfm4 is an optional build dependency; without it there are no events. Borrowed data lives as
 * long as the program.
 *
 *	struct evpfm_pmu pmu;
 *	for (i = 0; evpfm_pmu_at(i, &pmu); i++)
 *		puts(pmu.name);
 *	evpfm_read("skx", &list);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct catalog_event;
struct cpu_type;
struct event;
struct evlist;

struct evpfm_pmu {
	const char *name; /* libpfm4's name: "skx" */
	const char *description;
	bool core;    /* counts per CPU, not per socket or memory channel */
	bool present; /* in this machine */
	size_t events;
};

/* Gets the @i-th PMU; returns false past the last. */
bool evpfm_pmu_at(size_t i, struct evpfm_pmu *ret);
/* Gets the PMU called @name; returns false if there is none. */
bool evpfm_pmu_named(const char *name, struct evpfm_pmu *ret);
/* Returns the name of the PMU of CPUs of @type, or NULL if libpfm4 knows none. With @here, the PMU
 * present in this machine is preferred. */
const char *evpfm_pmu_of(const struct cpu_type *type, bool here);

/* Adds the events of the PMU called @name that the list does not have yet. Their masks are left to
 * evpfm_complete(), because most are never needed. */
void evpfm_read(const char *name, struct evlist *list);

/* Reads the masks of an event added by evpfm_read() into @arena; does nothing to other events. */
void evpfm_complete(struct catalog_event *event, struct arena *arena);

/* Fills in how @event is programmed with the masks named in @masks, "A+B" (empty: the default).
 * @info is its entry from evpfm_read(). Returns 0, or -EINVAL with libpfm4's reason. */
int evpfm_encode(const struct catalog_event *info, const char *masks, struct event *event,
		 struct error *err);
