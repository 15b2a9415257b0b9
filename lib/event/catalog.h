/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events there are, whatever they come from: what lies behind event.h. All of it is constant
 * and lives as long as the program.
 *
 *	const struct catalog_event *found = catalog_find("PAGE_FAULTS");
 *	if (!found)
 *		hint = catalog_nearest("PAGE_FAULTS");
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpu_type;

enum catalog_kind {
	CATALOG_COUNTER,  /* counted by hardware */
	CATALOG_SOFTWARE, /* counted by the kernel */
	CATALOG_TIMER,	  /* sampled by the clock */
};

/* One value of a unit mask, or one bit of it. */
struct catalog_mask {
	uint32_t value;
	const char *description;
};

struct catalog_event {
	const char *name, *description;
	enum catalog_kind kind;
	const char *cpus;	 /* start of the keys of the CPU types that have it; "" for all */
	uint32_t code;		 /* in sample file headers */
	uint64_t minimum, count; /* least and usual number of events between two samples */
	uint32_t perf_type;	 /* perf_event_attr.type */
	uint64_t perf_config;	 /* perf_event_attr.config, the unit mask not yet in it */
	bool bitmask;		 /* masks may be added up */
	uint32_t default_mask;
	const struct catalog_mask *masks; /* NULL where only 0 is allowed */
	size_t mask_count;
};

/* The number of events known, of whatever CPU. */
size_t catalog_count(void);
/* The i-th of them. */
const struct catalog_event *catalog_at(size_t i);
/* The event called @name, of whatever CPU; NULL if there is none. */
const struct catalog_event *catalog_find(const char *name);
/* The event whose name is most like @name, NULL if none is like it. */
const struct catalog_event *catalog_nearest(const char *name);
/* Whether CPUs of @type have the event. */
bool catalog_on_cpu(const struct catalog_event *event, const struct cpu_type *type);
/* The event that is sampled where nothing else is asked for. */
const struct catalog_event *catalog_default(const struct cpu_type *type);
/* The code for the sample file's header on CPUs of @type. */
uint32_t catalog_code(const struct catalog_event *event, const struct cpu_type *type);
/* Whether @mask is one that the event has. */
bool catalog_mask_valid(const struct catalog_event *event, uint64_t mask);
/* What @mask means, for people. */
const char *catalog_mask_text(const struct catalog_event *event, uint64_t mask);
