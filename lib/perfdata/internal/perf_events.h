/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events of a perf.data as those of a session, and when the samples were taken.
 *
 *	struct perf_events events;
 *	if (perf_events_read(file, &events, err) == 0)
 *		puts(events.list[0].name);
 */
#pragma once

#include "base/error.h"
#include "event/event.h"

#include <stddef.h>
#include <stdint.h>

struct perf_file;

struct perf_events {
	struct event list[EVENT_MAX]; /* in the order of the file */
	size_t count;
	uint64_t first_ns, last_ns; /* of the samples, by their clock; 0: no times, or no samples */
};

/* The count of an event whose rate was given is the mean of its samples' periods. 0, or -ENOTSUP if
 * there are too many events. */
int perf_events_read(const struct perf_file *file, struct perf_events *ret, struct error *err);
