/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An event as a value: what is counted, where, and how often it makes a sample. It owns nothing.
 * event.h makes events from specifications.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	EVENT_MAX = 24,
	EVENT_NAME_MAX = 64,
	EVENT_MASKS_MAX = 128,
	EVENT_PMU_MAX = 40,
	EVENT_RAW_MINIMUM = 500, /* least and usual count where nothing is known of an event */
	EVENT_RAW_COUNT = 100000,
	EVENT_TIMER_MAX_HZ = 100000, /* the floor of the kernel's clock event is 10 us */
};

struct event {
	char name[EVENT_NAME_MAX]; /* as in sample file names: "CPU_CLK_UNHALTED", "TIMER" */
	uint64_t count;		   /* events between two samples; 0 in timer mode */
	uint64_t rate_hz;	   /* a second and CPU, of the clock; 0: driver_config.timer_hz */
	uint32_t code;		   /* the event file's code, for the sample file's header */
	uint32_t unit_mask;
	char masks[EVENT_MASKS_MAX]; /* their names, "A+B", where the number does not tell */
	bool kernel, user;	     /* where it counts */
	bool no_hypervisor;	     /* nor in the hypervisor, where it counts in the kernel */
	bool is_timer;		     /* sampled by the clock: no counter, idle time left out */
	uint32_t perf_type;	     /* perf_event_attr.type */
	uint64_t perf_config;	     /* perf_event_attr.config */
	uint64_t perf_config1, perf_config2;
	char pmu[EVENT_PMU_MAX]; /* the kernel's PMU that counts it; empty: the CPU's own */
	bool raw;		 /* its samples carry what the PMU has in registers, no chains */
	bool beside_cores;	 /* that PMU counts for a socket, not for a CPU */
	uint8_t precise;	 /* perf_event_attr.precise_ip */
	uint8_t precise_by;	 /* of it what the specification asks for, by ":p" to ":ppp" */
	const char *feature;	 /* derives it, see evderived.h; constant. NULL: it is sampled */
};
