/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a run samples and how, decided once by trying: the events as asked for, without the kernel
 * where that is refused, or the clock in the place of the CPU's counters.
 *
 *	struct perf_plan plan;
 *	if (perf_plan_make(&plan, "perf", config, cpu, err) == 0)
 *		log_info("%s", plan.why);
 *	perf_plan_done(&plan);
 */
#pragma once

#include "driver/driver.h"
#include "perf/perf_event.h"

/* Gives the samples of the event @fd, which is the counter with that index, to somebody else than
 * the ring. A descriptor that holds it so, which is closed with the event, or -errno. */
typedef int perf_attach(int fd, unsigned int counter, void *data);

/* The counter of instruction-based samples of a kind, which are none of the events. */
enum { PERF_PLAN_IBS = EVENT_MAX };
/* Of tasks that leave their CPUs. */
enum { PERF_PLAN_LEAVING = PERF_PLAN_IBS + 2 };

struct perf_plan {
	struct event events[EVENT_MAX]; /* as they open; the index is the counter */
	size_t count;
	struct event ibs[2]; /* of instruction-based samples, by enum ibs_kind */
	bool has_ibs[2];
	struct perf_attrs attrs;
	size_t depth;  /* most frames of a chain; 0: no chains */
	bool by_table; /* user frames are found by unwind tables over copies of the stack */
	bool switches; /* context switches are reported, and samples taken of who leaves */
	enum driver_scope scope;
	const char *root;    /* borrowed from the config */
	pid_t pid;	     /* to try with, -1: all */
	char *why;	     /* one line for people, owned */
	perf_attach *attach; /* NULL: samples go to the rings */
	void *attach_data;
};

/* Decides for @driver, as ->why calls it, trying on @cpu; 0, or -errno with the step that failed
 * and the remedy. On success the caller calls perf_plan_done(). */
int perf_plan_make(struct perf_plan *ret, const char *driver, const struct driver_config *config,
		   unsigned int cpu, struct error *err);
/* Frees what it holds; all-zero is fine. */
void perf_plan_done(struct perf_plan *plan);

/* Halves the rings; false if they cannot be smaller. */
bool perf_plan_shrink(struct perf_plan *plan);

/* Ticks a second of @e where it is a clock that ticks by itself, idle or not; else 0. */
uint64_t perf_plan_clock_hz(const struct event *e);

/* Says in @err which @step failed with @code (-errno) and what helps; returns @code. */
int perf_plan_explain(const struct perf_plan *plan, int code, const char *step, struct error *err);
