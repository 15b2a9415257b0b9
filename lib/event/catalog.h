/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events there are: what lies behind event.h. A catalogue holds those of one CPU type, read
 * from its description files (opevents(5)), from libpfm4 those that the files do not have, the
 * software events, which every CPU has, and the clock. Files of the user's for a CPU type stand
 * alone, without libpfm4. A catalogue is read when it is first asked for; from then on it is
 * constant and lives as long as the program.
 *
 *	const struct catalog_event *found = catalog_find("PAGE_FAULTS");
 *	if (!found)
 *		hint = catalog_nearest("PAGE_FAULTS");
 *
 *	const struct catalog *other = catalog_of(cpu_type_by_id(67));
 *	for (i = 0; i < catalog_size(other); i++)
 *		puts(catalog_event_at(other, i)->name);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpu_type;
struct catalog;

/* In catalog_mask.extra: sampled precisely (PEBS). */
#define CATALOG_MASK_PRECISE (1U << 20)

enum catalog_kind {
	CATALOG_COUNTER,  /* counted by hardware */
	CATALOG_SOFTWARE, /* counted by the kernel */
	CATALOG_TIMER,	  /* sampled by the clock */
	CATALOG_FEATURE,  /* derived by an extended feature of oprofiled, "ibs" */
};

/* One value of a unit mask, or one bit of it. */
struct catalog_mask {
	uint32_t value; /* bits of the unit mask */
	const char *description;
	const char *name; /* of a mask that goes by name too, else NULL */
	uint32_t extra;	  /* further bits of the event select register */
};

struct catalog_event {
	const char *name, *description;
	enum catalog_kind kind;
	const char *feature;	 /* what derives it: "ibs_op"; NULL but for CATALOG_FEATURE */
	uint32_t code;		 /* in sample file headers */
	uint64_t counters;	 /* the counters that can count it, a bit each; all ones: any */
	uint64_t minimum, count; /* least and usual number of events between two samples */
	uint32_t perf_type;	 /* perf_event_attr.type */
	uint64_t perf_config;	 /* perf_event_attr.config, the unit mask not yet in it */
	const char *pfm;	 /* libpfm4's PMU, which encodes it; NULL if this does */
	const char *pmu;	 /* the kernel's, which counts it; NULL: the CPU's own */
	bool beside_cores;	 /* counted for a socket, not for a CPU */
	bool bitmask;		 /* masks may be added up */
	uint32_t default_mask;	 /* as catalog_mask_number() has it */
	const struct catalog_mask *masks; /* NULL where only 0 is allowed */
	size_t mask_count;
	int late; /* libpfm4's number, while its masks are not read yet; else 0 */
};

/* The events of CPUs of @type. Where its files cannot be read, the clock alone: catalog_problem()
 * says why. */
const struct catalog *catalog_of(const struct cpu_type *type);
/* The events of this machine's CPU. */
const struct catalog *catalog_here(void);
/* The CPU type that stands for libpfm4's PMU called @name, of which catalog_of() gives the events
 * of that PMU; its key is "pfm/NAME". NULL if there is none. */
const struct cpu_type *catalog_pmu_type(const char *name);
/* The events of the machine below @root ("" here): those of its CPU, and the kernel's, called
 * "PMU/EVENT/", unless the user's files stand alone. */
const struct catalog *catalog_machine(const char *root);
/* The type of CPU the events are of. */
const struct cpu_type *catalog_type(const struct catalog *c);
/* What is wrong with the files, with path and line; NULL if nothing. */
const char *catalog_problem(const struct catalog *c);
/* The number of events. */
size_t catalog_size(const struct catalog *c);
/* The i-th of them, in the order of the files. */
const struct catalog_event *catalog_event_at(const struct catalog *c, size_t i);
/* The same, perhaps without its masks, which take libpfm4 most of its time. */
const struct catalog_event *catalog_event_peek(const struct catalog *c, size_t i);
/* The event called @name, or NULL. */
const struct catalog_event *catalog_event_find(const struct catalog *c, const char *name);
/* The event whose name is most like @name, NULL if none is like it. */
const struct catalog_event *catalog_event_nearest(const struct catalog *c, const char *name);

/* The same of catalog_here(). */
size_t catalog_count(void);
/* As catalog_event_at() for catalog_here(). */
const struct catalog_event *catalog_peek(size_t i);
/* The event of catalog_here() called @name, or NULL. */
const struct catalog_event *catalog_find(const char *name);
/* The event of catalog_here() whose name is nearest to @name, or NULL. */
const struct catalog_event *catalog_nearest(const char *name);

/* Whether this is the name of the clock's event, which is the same everywhere; reads no files. */
bool catalog_is_timer(const char *name);
/* Whether CPUs of @type have an event of this name. */
bool catalog_on_cpu(const struct catalog_event *event, const struct cpu_type *type);
/* The event that is sampled on CPUs of @type where nothing else is asked for: cycles; the clock
 * where there is none. */
const struct catalog_event *catalog_default(const struct cpu_type *type);
/* The code for the sample file's header on CPUs of @type. */
uint32_t catalog_code(const struct catalog_event *event, const struct cpu_type *type);

/* The number of a mask in specifications and sample files: its value, or, where it has extra bits,
 * those and the value where the event select register has it. */
uint32_t catalog_mask_number(const struct catalog_mask *mask);
/* The mask called @name, or NULL. */
const struct catalog_mask *catalog_mask_named(const struct catalog_event *event, const char *name);
/* Whether @mask is one that the event has. */
bool catalog_mask_valid(const struct catalog_event *event, uint64_t mask);
/* What @mask means, for people. */
const char *catalog_mask_text(const struct catalog_event *event, uint64_t mask);
