/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the measurement of time off the CPU leaves in maps when it ends: tasks that wait, and who
 * woke others.
 *
 *	count = offcpu_left_take(&from, counter, handler, squares);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct offcpu_squares;
struct sampler_handler;

struct offcpu_left {
	int left, wakers; /* descriptors of the maps */
	uint64_t min_us;  /* shorter waits do not count */
};

/* Counts the waits until now, each as a sample of the counters from @counter on, and empties the
 * maps, which no program may change any more. Returns how many waits were counted. */
size_t offcpu_left_take(const struct offcpu_left *from, uint32_t counter,
			const struct sampler_handler *h, struct offcpu_squares *squares);
