/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/common/usual_event.h"

#include "base/macro.h"
#include "base/mem.h"
#include "profile/profile.h"
#include "profile/select/file_counts.h"
#include "sfile/sname.h"

#include <string.h>

enum kind { TIME_ON_CPU, OTHER, TIME_OFF_CPU };

static enum kind kind_of(const char *event)
{
	/* The clocks, and what cycles are called in the events of various CPUs. */
	static const char *const clocks[] = {
		"TIMER",      "TASK_CLOCK", "CPU_CLK_UNHALTED",	   "cpu_clk_unhalted",
		"CPU_CYCLES", "CYCLES",	    "GLOBAL_POWER_EVENTS", "global_power_events",
		"CPU_CLK",
	};
	size_t i;

	if (sname_event_is_time(event))
		return TIME_OFF_CPU;
	for (i = 0; i < ARRAY_SIZE(clocks); i++)
		if (!strcmp(event, clocks[i]))
			return TIME_ON_CPU;
	return OTHER;
}

/* The samples of the event whose first class is number @first. */
static uint64_t samples_of(const struct profile *p, size_t first)
{
	const struct class *classes = p->classes.classes;
	const struct gather *g = p->gather;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < g->file_count; i++) {
		_cleanup_(file_counts_closep) struct file_counts *counts = NULL;

		if (!g->files[i].arcs &&
		    class_same_event(&classes[p->classes.of_file[i]], &classes[first]) &&
		    file_counts_open(&g->files[i], &counts, NULL) == 0)
			sum += file_counts_sum(counts);
	}
	return sum;
}

/* Whether the event of class @a is to be shown rather than that of @b. */
static bool is_before(const struct profile *p, size_t a, size_t b)
{
	const struct class *classes = p->classes.classes;
	const enum kind x = kind_of(classes[a].event), y = kind_of(classes[b].event);

	return x == y ? samples_of(p, a) > samples_of(p, b) : x < y;
}

size_t usual_event(const struct profile *p)
{
	size_t best = 0, i;

	for (i = 1; i < p->classes.count; i++)
		if (!class_same_event(&p->classes.classes[i], &p->classes.classes[i - 1]) &&
		    is_before(p, i, best))
			best = i;
	return best;
}
