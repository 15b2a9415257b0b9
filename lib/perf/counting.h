/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting without sampling: every event is opened in every place, a task or a CPU, and read when
 * one likes; what is read only grows. The config is borrowed during counting_open() alone.
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
	bool inherit;	     /* tasks that these start are counted with them */
	bool enable_on_exec; /* counting begins when the task executes something */
	const char *root;    /* whose /proc and /sys are read; NULL: this machine's */
	int (*open_event)(const struct perf_event_attr *attr, pid_t pid, int cpu, void *data);
	void *open_data; /* of open_event, which opens in the place of the kernel, for tests */
	bool optional;	 /* events that do not open are left out, as long as one does */
};

/* What the kernel tells of one event in one place. */
struct counting_value {
	uint64_t raw;			 /* events counted */
	uint64_t enabled_ns, running_ns; /* less running: the counter was shared with others */
};

/* Values of several places, or of one, together. */
struct counting_sum {
	uint64_t count; /* scaled up to the whole time */
	uint64_t raw;
	uint64_t enabled_ns, running_ns;
};

struct counting;

/* Opens the events, not yet counting. An event that this user may not count in the kernel counts
 * user space only, see counting_user_only(). Tasks that end meanwhile are passed over. 0, or -errno
 * with the event, what is in the way and the remedy. */
int counting_open(const struct counting_config *config, struct counting **ret, struct error *err);
/* Closes all. */
void counting_free(struct counting *c);
DEFINE_CLEANUP(struct counting *, counting_free);

/* Whether the event counts; only with ->optional it may not. */
bool counting_has(const struct counting *c, size_t event);
/* Why it does not count, with the remedy but without its name; NULL if it does. Borrowed. */
const char *counting_why_not(const struct counting *c, size_t event);
/* Whether the kernel had to be left out though it was asked for. */
bool counting_user_only(const struct counting *c, size_t event);

/* Begins and ends counting, but for what an exec begins. */
void counting_start(struct counting *c);
/* Ends counting. */
void counting_stop(struct counting *c);

/* Reads the values into @values[place * event_count + event], zeros for what did not open; 0 or
 * -errno. */
int counting_read(const struct counting *c, struct counting_value *values, struct error *err);

/* What was counted between two readings. */
struct counting_value counting_since(const struct counting_value *now,
				     const struct counting_value *before);
/* Adds @value, scaled; counts saturate. */
void counting_add(struct counting_sum *sum, const struct counting_value *value);
/* The share of the time during which it was counted, in percent; 100 where there was no time. */
double counting_percent(const struct counting_sum *sum);
