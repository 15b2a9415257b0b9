/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the PMUs of a machine (this one, or the one below @root) mean for opening events: on which
 * CPUs an event counts, and which events cannot be sampled. Nothing is cached.
 *
 *	if (perf_pmus_check(root, events, count, &err) == 0 &&
 *	    perf_pmus_counts(root, &events[0], cpu))
 *		...	events[0] can be opened on that CPU
 */
#pragma once

#include "base/error.h"
#include "event/event.h"

/* Whether the event's PMU counts on @cpu: a PMU of one type of cores does on their CPUs, a PMU
 * outside the cores on the CPU that its socket names. */
bool perf_pmus_counts(const char *root, const struct event *event, unsigned int cpu);
/* The first CPU on which it counts; @otherwise if it counts on every CPU. */
unsigned int perf_pmus_first_cpu(const char *root, const struct event *event,
				 unsigned int otherwise);
/* Returns 0 if all events can be sampled, or -EINVAL naming one that counts outside the cores. */
int perf_pmus_check(const char *root, const struct event *events, size_t count, struct error *err);
/* Whether the kernel's NMI watchdog uses a counter. */
bool perf_pmus_watchdog(const char *root);
