/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events as people write them. The name of a sample file cannot have slashes, colons and commas, so
 * "msr/tsc/" is "msr~tsc" there, "sched:sched_switch" is "sched~sched_switch", and
 * "cpu/event=0x3c,umask=1/" is "cpu~event=0x3c+umask=1". Reports print them as they were typed.
 *
 *	_cleanup_free_ char *text = sname_event_text("msr~tsc");		"msr/tsc/"
 *	sname_event_is("msr/tsc/", "msr~tsc");					true
 */
#pragma once

#include <stdbool.h>

/* Returns the event that is called @event in names of sample files as people write it; caller
 * frees. The name alone decides, so that a report is the same on each machine: a name with terms,
 * or of a PMU that is known, is PMU/EVENT/; others are GROUP:TRACEPOINT. */
char *sname_event_text(const char *event);
/* Returns the same as a word of a specification, where a comma needs a backslash; caller frees. */
char *sname_event_word(const char *event);
/* Returns whether @word of a specification, in either form, is the event that is called @event in
 * names of sample files. */
bool sname_event_is(const char *word, const char *event);
