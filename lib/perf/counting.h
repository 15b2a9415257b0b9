/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts events without sampling. Every event is opened in every place (a task, a CPU or both) and
 * can be read at any time; its values never fall. The config is borrowed during counting_open()
 * only.
 *
 *	struct counting_place place = { .tid = -1, .cpu = 0 };
 *	counting_open(&(struct counting_config){ events, n, &place, 1 }, &c, &err);
 *	counting_start(c);
 *	...
 *	counting_read(c, values, &err);
 *	counting_add(&sum, &values[place_index * n + event_index]);
 */
#pragma once

#include "base/error.h"
#include "event/event.h"

#include <sys/types.h>

struct perf_event_attr;

struct counting_place {
	pid_t tid; /* -1: all tasks */
	int cpu;   /* -1: wherever they run */
};

struct counting_config {
	const struct event *events;
	size_t event_count;
	const struct counting_place *places;
	size_t place_count;
	bool inherit;	     /* tasks that the tasks start are counted too */
	bool enable_on_exec; /* counting begins when the task executes something */
	const char *root;    /* prefix of /proc and /sys; NULL: this machine's */
	int (*open_event)(const struct perf_event_attr *attr, pid_t pid, int cpu, void *data);
	void *open_data; /* for open_event, which replaces the kernel in tests */
	bool optional;	 /* events that do not open are skipped if at least one opens */
};

/* What the kernel reports for one event in one place. */
struct counting_value {
	uint64_t raw;			 /* events counted */
	uint64_t enabled_ns, running_ns; /* running_ns is less if the counter was shared */
};

/* The sum of the values of one or more places. */
struct counting_sum {
	uint64_t count; /* scaled up to the whole time */
	uint64_t raw;
	uint64_t enabled_ns, running_ns;
};

struct counting;

/* Opens the events, disabled. An event that this user may not count in the kernel counts user space
 * only, see counting_user_only(). Tasks that end meanwhile are skipped. Returns 0, or -errno with
 * the event, the reason and the remedy in @err. */
int counting_open(const struct counting_config *config, struct counting **ret, struct error *err);
/* Closes all events. */
void counting_free(struct counting *c);
DEFINE_CLEANUP(struct counting *, counting_free);

/* Why the event was not opened, and the remedy, without its name; NULL if it was,
 * as always without ->optional. Borrowed. */
const char *counting_why_not(const struct counting *c, size_t event);
/* Whether the event was requested for the kernel too but counts user space only. */
bool counting_user_only(const struct counting *c, size_t event);

/* Starts counting, except of events that an exec starts. */
void counting_start(struct counting *c);
/* Stops counting. */
void counting_stop(struct counting *c);

/* Reads the values into @values[place * event_count + event], zeros for events that did not open;
 * returns 0 or -errno. */
int counting_read(const struct counting *c, struct counting_value *values, struct error *err);

/* What was counted between two readings. */
struct counting_value counting_since(const struct counting_value *now,
				     const struct counting_value *before);
/* Adds @value, scaled to the whole time; counts saturate. */
void counting_add(struct counting_sum *sum, const struct counting_value *value);
/* The percentage of the enabled time during which the event was counted; 100 if there was none. */
double counting_percent(const struct counting_sum *sum);
