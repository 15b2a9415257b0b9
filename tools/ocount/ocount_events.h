/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events that ocount counts, each with its label in the output: the words of the user. The
 * struct is in the caller's storage and owns the labels.
 *
 *	struct ocount_events events = { 0 };
 *	ocount_events_add(&events, "PAGE_FAULTS,CPU_CLK_UNHALTED:0:0:1", &err);
 *	...
 *	ocount_events_done(&events);
 */
#pragma once

#include "event/event.h"

struct ocount_events {
	struct event events[EVENT_MAX];
	char *labels[EVENT_MAX];
	size_t count;
};

/* Adds those of a comma list of "NAME[:unitmask[:kernel[:user]]]", leaving out repetitions; 0 or
 * -EINVAL. Commas and colons between two slashes belong to a name. */
int ocount_events_add(struct ocount_events *events, const char *list, struct error *err);
/* Adds the default events: the CPU's cycles and instructions, if they are known, and those that the
 * kernel counts in software. */
void ocount_events_add_defaults(struct ocount_events *events);
/* Frees the labels. */
void ocount_events_done(struct ocount_events *events);
