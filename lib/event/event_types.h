/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An event to profile as a value: what is counted, where, and how many events make a sample. It
 * owns nothing. event.h makes events from specifications. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	EVENT_MAX = 24,
	EVENT_NAME_MAX = 64,
	EVENT_MASKS_MAX = 128,
	EVENT_PMU_MAX = 40,
	EVENT_PROBED_MAX = 256,
	EVENT_RAW_MINIMUM = 500, /* least and default count if nothing is known about an event */
	EVENT_RAW_COUNT = 100000,
	EVENT_TIMER_MAX_HZ = 100000, /* the kernel's clock event fires at most every 10 us */
};

/* How often an event is sampled, and which part of it, in numbers. */
struct event_terms {
	uint64_t count; /* events between two samples; of the clock, samples per second */
	uint64_t unit_mask;
	uint64_t kernel, user; /* 1 where it counts */
};

struct event {
	char name[EVENT_NAME_MAX]; /* as in sample file names: "CPU_CLK_UNHALTED", "TIMER" */
	uint64_t count;		   /* events between two samples; 0 in timer mode */
	uint64_t rate_hz;	   /* of the clock, per second per CPU; 0: driver_config.timer_hz */
	uint32_t code;		   /* code in the event file, for the sample file's header */
	uint32_t unit_mask;
	char masks[EVENT_MASKS_MAX]; /* names of the masks, "A+B", if the number is ambiguous */
	bool kernel, user;	     /* where it counts */
	bool no_hypervisor;	     /* not in the hypervisor, when it counts in the kernel */
	bool is_timer;		     /* sampled by the clock: uses no counter, skips idle time */
	uint32_t perf_type;	     /* perf_event_attr.type */
	uint64_t perf_config;	     /* perf_event_attr.config */
	uint64_t perf_config1, perf_config2;
	char probed[EVENT_PROBED_MAX]; /* of a probe: the kernel's function, or the path of the
					* file; else empty */
	char pmu[EVENT_PMU_MAX];       /* kernel PMU that counts it; empty: the CPU's own */
	bool raw;		       /* samples carry the PMU's raw registers, no chains */
	bool outside_cores;	       /* that PMU counts per socket, not per CPU */
	uint8_t precise;	       /* perf_event_attr.precise_ip */
	uint8_t precise_by;  /* precision requested by the specification, ":p" to ":ppp" */
	const char *feature; /* feature that derives it (evderived.h); NULL: sampled */
};
