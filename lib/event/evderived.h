/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events that an extended feature of oprofiled derives from samples of its own ("ext:" in the
 * description files): AMD's IBS events, and the time off the CPU. A struct evderived is a value
 * that names the feature and its events; one feature can be enabled at a time.
 *
 *	struct evderived d = { 0 };
 *	size_t i;
 *	if (evderived_parse("ibs:op:IBS_OP_ALL,IBS_OP_LOAD:250000:1", &d, &err) == 0)
 *		for (i = 0; evderived_event(&d, i, &event); i++)
 *			puts(event.name);
 */
#pragma once

#include "base/error.h"
#include "event/event_types.h"
#include "event/evoffcpu.h"
#include "event/ibs_event.h"

/* All-zero: no derived events. */
struct evderived {
	struct event_terms ibs[IBS_KIND_COUNT_]; /* of all events of a kind; ->count 0: none */
	const struct ibs_event *events[IBS_EVENTS_MAX];
	size_t event_count;
	struct evoffcpu offcpu;
};

/* Adds an event whose ->feature is set. Returns 0, or -EINVAL if no feature derives the event or if
 * it cannot be combined with those added before: all events of a kind come from the same samples,
 * so their settings must agree. */
int evderived_add(struct evderived *d, const struct event *event, struct error *err);
/* Parses the argument of --ext-feature: "ibs:fetch:EVENT,...:COUNT:MASK|op:EVENT,...:COUNT:MASK",
 * in which a mask can be followed by ":KERNEL:USER", or "offcpu[:WHAT,...]" (event/evoffcpu.h).
 * Returns 0, or -EINVAL. */
int evderived_parse(const char *text, struct evderived *ret, struct error *err);

/* The name of the feature that derives the events: "ibs" or "offcpu"; NULL if there are none. */
const char *evderived_name(const struct evderived *d);
/* Makes the @i-th of the events, as sample files name it; false past the last. */
bool evderived_event(const struct evderived *d, size_t i, struct event *ret);

/* Checks that the machine under @root can take the samples that @feature needs for the event @name.
 * Returns 0, or -EINVAL and a message naming what is missing. If @root is NULL, no machine is
 * checked. */
int evderived_check(const char *root, const char *name, const char *feature, struct error *err);
/* Returns the feature that derives events with names like @name, or NULL. */
const char *evderived_feature(const char *name);
