/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events that libpfm4 knows, of this CPU and of all others that the library was built for.
 * Without the library (it is optional when building) there are none. What is borrowed lives as
 * long as the program.
 *
 *	struct evpfm_pmu pmu;
 *	for (i = 0; evpfm_pmu_at(i, &pmu); i++)
 *		puts(pmu.name);
 *	evpfm_read("skx", &list);
 */
#pragma once

#include "base/error.h"
#include "event/internal/evlist.h"

struct cpu_type;
struct event;

struct evpfm_pmu {
	const char *name; /* as libpfm4 calls it: "skx" */
	const char *description;
	bool core;    /* counts for a CPU, not for a socket or memory channel */
	bool present; /* in this machine */
	size_t events;
};

/* The i-th PMU; false behind the last. */
bool evpfm_pmu_at(size_t i, struct evpfm_pmu *ret);
/* The PMU called @name; false if there is none. */
bool evpfm_pmu_named(const char *name, struct evpfm_pmu *ret);
/* The name of the PMU that CPUs of @type have: of those that fit the one in this machine, if it
 * has one and @here. NULL if libpfm4 knows none. */
const char *evpfm_pmu_of(const struct cpu_type *type, bool here);

/* Adds the events of the PMU called @name that the list does not have; what masks they have is left
 * to evpfm_complete(), for most are never asked for. */
void evpfm_read(const char *name, struct evlist *list);

/* Reads the masks of an event that was added so, into @arena; does nothing to others. */
void evpfm_complete(struct catalog_event *event, struct arena *arena);

/* Sets how @event, of which @info is known from evpfm_read(), is programmed with the masks called
 * @masks, "A+B"; empty: the default. 0, or -EINVAL with libpfm4's reason. */
int evpfm_encode(const struct catalog_event *info, const char *masks, struct event *event,
		 struct error *err);
