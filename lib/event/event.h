/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events to profile: what is counted, how many events make a sample, and whether the kernel or user
 * space is counted. A struct event is a value and owns nothing.
 *
 *	struct event events[EVENT_MAX];
 *	int n = event_parse_list("CPU_CLK_UNHALTED:100000:0:1:1", events, &err);
 */
#pragma once

#include "base/error.h"
#include "event/event_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct catalog_event;
struct cpu_type;
struct evderived;

/* Parses "NAME[:count[:unitmask[:kernel[:user[:hypervisor]]]]][:ukp]". NAME can also be "default",
 * the CPU's default event; "TIMER" or "TIMER:HZ", the clock; "r1c2", a value of the event select
 * register; or "PMU/TERM,.../", an event of the kernel or a PMU programmed by terms. The last is
 * stored without slashes as "PMU~TERM+...", which is accepted too. So are the kernel's tracepoints,
 * "sched:sched_switch", which are stored as "sched~sched_switch", and probes (evprobe.h). A unit
 * mask is a number, a name, or several names, "A+B". The suffix "p", "pp" or "ppp" requests precise
 * samples: constant skid, no skid if possible, no skid at all. A "u" or "k" in it is user space or
 * the kernel alone. The names that perf(1) has for common events, "page-faults", are accepted.
 * Returns 0, or -EINVAL and a message that names a similar event or what this machine lacks. */
int event_parse(const char *spec, struct event *ret, struct error *err);
/* Parses an event for CPUs of @type, which this machine need not have; the kernel's PMUs are not
 * available then. */
int event_parse_on(const struct cpu_type *type, const char *spec, struct event *ret,
		   struct error *err);
/* Parses an event for the machine under @root. */
int event_parse_at(const char *root, const char *spec, struct event *ret, struct error *err);

/* Makes an event of this machine that @info describes. Returns 0, or -EINVAL like event_parse(). */
int event_make(const struct catalog_event *info, const struct event_terms *terms, struct event *ret,
	       struct error *err);
/* Makes an event of the PMU called @pmu of the machine under @root from terms of the PMU, "a=1,b".
 * Returns 0, or -EINVAL like event_parse(). */
int event_of_pmu(const char *root, const char *pmu, const char *terms, uint64_t count,
		 struct event *ret, struct error *err);

/* Parses a comma-separated list into @events, which has room for EVENT_MAX; duplicates are dropped.
 * Returns the number of events, or -EINVAL, also if two events would write the same sample files.
 * On a machine with several types of cores, a CPU event becomes one event per type, such as
 * "cpu_core~NAME". */
int event_parse_list(const char *specs, struct event *events, struct error *err);
/* Parses a list for the machine under @root. */
int event_parse_list_at(const char *root, const char *specs, struct event *events,
			struct error *err);
/* Parses a list that can also contain events derived by extended features, which event_parse_list()
 * refuses. These are put in @ret_derived. */
int event_parse_all(const char *specs, struct event *events, struct evderived *ret_derived,
		    struct error *err);
/* Parses such a list for the machine under @root. */
int event_parse_all_at(const char *root, const char *specs, struct event *events,
		       struct evderived *ret_derived, struct error *err);
/* Returns the length of @text up to the first of @ends that is not between two slashes. */
size_t event_part_length(const char *text, const char *ends);
/* Returns the length of the specification at the start of a list of them, with @separators. */
size_t event_spec_length(const char *list, const char *separators);
/* Returns the length of the name in a specification; that of a tracepoint or probe has colons. */
size_t event_name_length(const char *spec);
/* Calls @item for each specification in a comma-separated list until a call returns non-zero.
 * Returns that value, else 0. */
int event_each_spec(const char *specs, int (*item)(const char *spec, void *data), void *data);

/* Makes @ret the clock at @rate_hz samples per second per CPU. */
void event_timer(struct event *ret, uint64_t rate_hz, bool kernel, bool user);

/* Returns whether all events are the clock; a profile of these is not tied to a CPU type. */
bool event_clock_only(const struct event *events, size_t count);
/* Returns whether none of the events counts in the kernel. */
bool event_user_only(const struct event *events, size_t count);

/* Returns a specification that event_parse() accepts, unless it is a probe in a file, whose path is
 * not in it: "NAME:count:unitmask:kernel:user", or "TIMER:rate:..." for the clock, followed by the
 * settings that differ from the default; the caller frees it. */
char *event_text(const struct event *event);
/* Returns the specification of an event of CPUs of @type; the caller frees it. */
char *event_text_on(const struct cpu_type *type, const struct event *event);
/* Returns the line that describes an event in a report's header, "Counted CPU_CLK_UNHALTED events
 * (...)", for CPUs of @type or, if that is NULL, for this CPU; the caller frees it. */
char *event_describe(const struct cpu_type *type, const char *name, uint64_t count,
		     uint64_t unit_mask);

/* Calls @each with the name and description of every known event. */
void event_each(void (*each)(const char *name, const char *description, void *data), void *data);
