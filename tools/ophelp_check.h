/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether events are right, and can be counted at once: ophelp --check-events. */
#pragma once

#include "base/strbuf.h"
#include "event/catalog.h"
#include "event/cpu_type.h"
#include "event/event.h"

enum { OPHELP_NO_COUNTER = -1 };

/* Gives each event a counter of its own out of those in its set @wanted, a bit each, so that all
 * have one, whenever that can be; a set of none needs none (OPHELP_NO_COUNTER). 0, or -EBUSY with
 * the first event for which nothing is left in *@ret_which. */
int ophelp_allot(const uint64_t *wanted, size_t count, int *ret, size_t *ret_which);

/* Checks events, separated by commas or blanks, on CPUs of @type; with @ignore_count their counts
 * are not looked at. Adds their counters to @out, separated by blanks, "-" for what needs none. 0,
 * or negative with the reason. */
int ophelp_check(const struct cpu_type *type, const char *list, bool ignore_count,
		 struct strbuf *out, struct error *err);
