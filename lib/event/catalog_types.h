/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An event and its unit masks, as described by the catalogue (catalog.h). The catalogue owns the
 * strings. */
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
	CATALOG_FEATURE,  /* derived by an extended feature of oprofiled, such as "ibs" */
};

/* One value of a unit mask, or one bit of it. */
struct catalog_mask {
	uint32_t value; /* bits of the unit mask */
	const char *description;
	const char *name; /* if the mask has a name too, else NULL */
	uint32_t extra;	  /* further bits of the event select register */
};

struct catalog_event {
	const char *name, *description;
	enum catalog_kind kind;
	const char *feature;	 /* feature that derives it, "ibs_op"; else NULL */
	uint32_t code;		 /* as stored in sample file headers */
	uint64_t counters;	 /* counters that can count it, one bit each; all ones: any */
	uint64_t minimum, count; /* least and default number of events between two samples */
	uint32_t perf_type;	 /* perf_event_attr.type */
	uint64_t perf_config;	 /* perf_event_attr.config, without the unit mask */
	const char *pfm;	 /* libpfm4's PMU, if libpfm4 encodes it; else NULL */
	const char *pmu;	 /* kernel PMU that counts it; NULL: the CPU's own */
	bool outside_cores;	 /* counted per socket, not per CPU */
	bool bitmask;		 /* masks can be combined */
	uint32_t default_mask;	 /* as returned by catalog_mask_number() */
	const struct catalog_mask *masks; /* NULL if only 0 is allowed */
	size_t mask_count;
	int late; /* libpfm4's number until its masks are read; then 0 */
};

/* Returns the number of a mask in specifications and sample files: its value, or for a mask with
 * extra bits, those bits plus the value at its position in the event select register. */
uint32_t catalog_mask_number(const struct catalog_mask *mask);
/* Returns the mask called @name, or else one whose name differs in case only, or NULL. */
const struct catalog_mask *catalog_mask_named(const struct catalog_event *event, const char *name);
/* Returns whether the event has the mask, or a combination of masks, with the number @mask. */
bool catalog_mask_valid(const struct catalog_event *event, uint64_t mask);
/* Returns a description of @mask for people. */
const char *catalog_mask_text(const struct catalog_event *event, uint64_t mask);
