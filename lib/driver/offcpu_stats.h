/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports how much time off the CPU varies: the counters offcpu_squares and offcpu_squares_REASON.
 *
 *	offcpu_stats_squares(&(struct evoffcpu){ .total = true }, &squares, &stats);
 */
#pragma once

#include "bpf/offcpu_squares.h"
#include "event/evoffcpu.h"
#include "stats/counters.h"

/* Sets the counter of each event of @o from the sums of its waits, which are in the same order. */
void offcpu_stats_squares(const struct evoffcpu *o, const struct offcpu_squares *squares,
			  struct driver_stats *stats);
