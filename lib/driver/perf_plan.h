/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides once, by trying, what a run samples and how: the events as requested, without the kernel
 * if the user may not sample it, or the clock instead of the CPU's counters. The plan owns its line
 * of text and borrows the root from the config.
 *
 *	struct perf_plan plan;
 *	if (perf_plan_make(&plan, "perf", config, cpu, err) == 0)
 *		log_info("%s", plan.why);
 *	perf_plan_done(&plan);
 */
#pragma once

#include "driver/driver.h"
#include "perf/perf_event.h"

/* Redirects the samples of the event @fd, which has index @counter, from the ring to another
 * consumer. Returns a descriptor that keeps the redirection, closed with the event, or -errno. */
typedef int perf_attach(int fd, unsigned int counter, void *data);

/* Counter of instruction-based samples, plus enum ibs_kind; they are not among the events. */
enum { PERF_PLAN_IBS = EVENT_MAX };
/* Counter of samples of tasks leaving their CPUs. */
enum { PERF_PLAN_LEAVING = PERF_PLAN_IBS + 2 };

struct perf_plan {
	struct event events[EVENT_MAX]; /* as opened; the index is the counter */
	size_t count;
	struct event ibs[2]; /* instruction-based sampling, by enum ibs_kind */
	bool has_ibs[2];
	struct perf_attrs attrs;
	size_t depth;  /* maximum frames in a chain; 0: no chains */
	bool by_table; /* find user frames by unwind tables in copies of the stack */
	bool switches; /* record context switches and sample each task that leaves */
	enum driver_scope scope;
	const char *root;    /* borrowed from the config */
	pid_t pid;	     /* to try with; -1: all */
	char *why;	     /* one line for users, owned */
	perf_attach *attach; /* NULL: samples go to the rings */
	void *attach_data;
};

/* Makes the plan by trying on @cpu; @driver is the name used in ->why. Returns 0, or -errno with
 * the step that failed and the remedy in @err. On success the caller calls perf_plan_done(). */
int perf_plan_make(struct perf_plan *ret, const char *driver, const struct driver_config *wanted,
		   unsigned int cpu, struct error *err);
/* Frees everything that @plan owns; accepts a zeroed plan. */
void perf_plan_done(struct perf_plan *plan);

/* Halves the rings. Returns false if they cannot be smaller. */
bool perf_plan_shrink(struct perf_plan *plan);

/* Ticks per second of @e if it is a clock, which ticks even while the CPU is idle; else 0. */
uint64_t perf_plan_clock_hz(const struct event *e);

/* Writes to @err which @step failed with @code (-errno) and the remedy. Returns @code. */
int perf_plan_explain(const struct perf_plan *plan, int code, const char *step, struct error *err);
