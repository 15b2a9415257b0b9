/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events that a kernel offers in /sys/bus/event_source/devices: what PMUs there are, what they
 * count and how that is programmed. @root is "" for this machine, or the directory that a recorded
 * machine is below.
 *
 *	struct evsys_pmu pmu;
 *	if (evsys_pmu(root, "cpu_atom", &pmu, &err) == 0)
 *		evsys_encode(root, &pmu, "cache-misses,edge", &event, &err);
 *	evsys_pmu_done(&pmu);
 */
#pragma once

#include "base/error.h"
#include "event/internal/evlist.h"

struct event;

struct evsys_pmu {
	char *name;    /* "cpu_atom" */
	uint32_t type; /* perf_event_attr.type */
	char *cpus;    /* those it counts on, "16-23"; NULL: each */
	char *cpumask; /* of a PMU beside the cores: the CPUs that count for a socket; else NULL */
	uint64_t max_precise; /* highest precise_ip, UINT64_MAX where the kernel does not say */
};

/* Reads what the PMU called @name is. 0, or -ENOENT with the PMUs there are. To be released with
 * evsys_pmu_done(). */
int evsys_pmu(const char *root, const char *name, struct evsys_pmu *ret, struct error *err);
/* Frees what it holds; all-zero is fine. */
void evsys_pmu_done(struct evsys_pmu *pmu);

/* Calls @each with every PMU, by name, until one returns non-zero; returns that value, else 0. */
int evsys_each_pmu(const char *root, int (*each)(const struct evsys_pmu *pmu, void *data),
		   void *data);

/* The PMUs of a machine whose cores are of several types, "cpu_atom" and "cpu_core", to *@ret, to
 * be released one by one and freed; 0 where all are of one. */
size_t evsys_core_types(const char *root, struct evsys_pmu **ret);

/* Sets how @event is programmed: @terms are those of the PMU's formats, "config=0x3c" and the like,
 * and at most one of its events. 0, or -EINVAL with what is wrong and the nearest name. */
int evsys_encode(const char *root, const struct evsys_pmu *pmu, const char *terms,
		 struct event *event, struct error *err);

/* Adds all events of all PMUs, called "PMU/EVENT/". */
void evsys_read(const char *root, struct evlist *list);
