/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events: what is counted, how often it makes a sample, and where (kernel, user). A struct event is
 * a value and owns nothing.
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

struct cpu_type;

/* Parses "NAME[:count[:unitmask[:kernel[:user[:hypervisor]]]]][:p]"; "default" is the CPU's default
 * event, "TIMER" or "TIMER:HZ" the clock, "r1c2" the value of an event select register.
 * "PMU/TERM,.../" is one of the kernel's, or one of its PMUs as programmed by terms; its name has
 * no slashes: "PMU~TERM+...", which is read as well. A unit mask is a number, a name, or names to
 * be added up, "A+B". Behind the rest, "p", "pp" or "ppp" asks for a sample at the instruction
 * itself: constant skid, none if possible, none at all. 0, or -EINVAL with a message that names the
 * nearest event, or what this machine lacks for it.
 */
int event_parse(const char *spec, struct event *ret, struct error *err);
/* The same for CPUs of @type, of which none need be near; and for the machine below @root. */
int event_parse_on(const struct cpu_type *type, const char *spec, struct event *ret,
		   struct error *err);
/* As event_parse() for the machine below @root. */
int event_parse_at(const char *root, const char *spec, struct event *ret, struct error *err);

/* Parses a comma list into @events, which has room for EVENT_MAX, leaving out repetitions; the
 * number of events or -EINVAL, as for two that would write the same sample files. On a machine
 * whose cores are of several types, an event of theirs becomes one a type, "cpu_core~NAME". */
int event_parse_list(const char *specs, struct event *events, struct error *err);
/* As event_parse_list() for the machine below @root. */
int event_parse_list_at(const char *root, const char *specs, struct event *events,
			struct error *err);
/* The same for who has extended features: what they derive may be in the list as well, and becomes
 * *@ret_feature, the text of --ext-feature, NULL where there is none; caller frees. Without it such
 * events are refused. */
int event_parse_all(const char *specs, struct event *events, char **ret_feature, struct error *err);
/* As event_parse_all() for the machine below @root. */
int event_parse_all_at(const char *root, const char *specs, struct event *events,
		       char **ret_feature, struct error *err);
/* The length of @text up to one of @ends that is not between two slashes. */
size_t event_part_length(const char *text, const char *ends);
/* Calls @item with each specification of a comma list until one returns non-zero, which is
 * returned, else 0. */
int event_each_spec(const char *specs, int (*item)(const char *spec, void *data), void *data);

/* The clock at @rate_hz samples per second per CPU. */
void event_timer(struct event *ret, uint64_t rate_hz, bool kernel, bool user);

/* Whether nothing but the clock samples: then a profile is of no type of CPU. */
bool event_clock_only(const struct event *events, size_t count);

/* "NAME:count:unitmask:kernel:user" ("TIMER:rate:..." in timer mode; behind it what is not as
 * usual), which event_parse() reads;
 * caller frees. */
char *event_text(const struct event *event);
/* The same of an event of CPUs of @type. */
char *event_text_on(const struct cpu_type *type, const struct event *event);
/* One line for people, as the report's header has it: "Counted CPU_CLK_UNHALTED events (...)", of
 * an event of CPUs of @type, of this one where it is NULL; caller frees. */
char *event_describe(const struct cpu_type *type, const char *name, uint64_t count,
		     uint64_t unit_mask);

/* Calls @each with the name and description of every event known. */
void event_each(void (*each)(const char *name, const char *description, void *data), void *data);
