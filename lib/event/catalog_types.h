/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An event as the catalogue (catalog.h) describes it, with its unit masks. The strings belong to
 * the catalogue.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* The number of a mask in specifications and sample files: its value, or, where it has extra bits,
 * those and the value where the event select register has it. */
uint32_t catalog_mask_number(const struct catalog_mask *mask);
/* The mask called @name, or NULL. */
const struct catalog_mask *catalog_mask_named(const struct catalog_event *event, const char *name);
/* Whether @mask is one that the event has. */
bool catalog_mask_valid(const struct catalog_event *event, uint64_t mask);
/* What @mask means, for people. */
const char *catalog_mask_text(const struct catalog_event *event, uint64_t mask);
