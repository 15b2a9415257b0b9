/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PMUs and events that a kernel lists in /sys/bus/event_source/devices, and how those events
 * are programmed. @root is "" for this machine, or the directory that contains a recorded machine's
 * files. The caller owns what is returned.
 *
 *	struct evsys_pmu pmu;
 *	if (evsys_pmu(root, "cpu_atom", &pmu, &err) == 0)
 *		evsys_encode(root, &pmu, "cache-misses,edge", &event, &err);
 *	evsys_pmu_done(&pmu);
 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct event;
struct evlist;

struct evsys_pmu {
	char *name;    /* "cpu_atom" */
	uint32_t type; /* perf_event_attr.type */
	char *cpus;    /* CPUs it counts on, "16-23"; NULL: all */
	char *cpumask; /* of a PMU outside the cores: CPUs that count for a socket; else NULL */
	uint64_t max_precise; /* highest precise_ip, UINT64_MAX if the kernel does not report it */
};

/* Reads the properties of the PMU called @name. Returns 0, or -ENOENT and a message that suggests a
 * similar name. Release with evsys_pmu_done(). */
int evsys_pmu(const char *root, const char *name, struct evsys_pmu *ret, struct error *err);
/* Frees the contents; an all-zero struct is allowed. */
void evsys_pmu_done(struct evsys_pmu *pmu);

/* Stores in *@ret the core PMUs of a machine that has several types of cores, such as "cpu_atom"
 * and "cpu_core". Returns their number, or 0 if all cores are of one type. The caller releases each
 * one and frees the array. */
size_t evsys_core_types(const char *root, struct evsys_pmu **ret);

/* Fills in how @event is programmed. @terms are terms of the PMU's formats, such as "config=0x3c",
 * and at most one of its events. Returns 0, or -EINVAL and a message that gives the mistake and the
 * most similar name. */
int evsys_encode(const char *root, const struct evsys_pmu *pmu, const char *terms,
		 struct event *event, struct error *err);

/* Adds all events of all PMUs, named "PMU/EVENT/". */
void evsys_read(const char *root, struct evlist *list);
