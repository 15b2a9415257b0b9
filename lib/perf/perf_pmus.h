/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the PMUs of a machine, this one or the one below @root, mean for opening events: on which
 * CPUs one counts, and what cannot be sampled. Nothing is kept.
 *
 *	if (perf_pmus_check(root, events, count, &err) == 0 &&
 *	    perf_pmus_counts(root, &events[0], cpu))
 *		...	events[0] can be opened on that CPU
 */
#pragma once

#include "base/error.h"
#include "event/event.h"

/* Whether the event's PMU counts on @cpu: one type of cores on its own CPUs, a PMU beside the cores
 * on the one that its socket names. */
bool perf_pmus_counts(const char *root, const struct event *event, unsigned int cpu);
/* The first CPU on which it counts; @otherwise where each will do. */
unsigned int perf_pmus_first_cpu(const char *root, const struct event *event,
				 unsigned int otherwise);
/* Whether all events can be sampled: 0, or -EINVAL naming one that counts beside the cores. */
int perf_pmus_check(const char *root, const struct event *events, size_t count, struct error *err);
/* Whether the kernel's NMI watchdog holds a counter. */
bool perf_pmus_watchdog(const char *root);
