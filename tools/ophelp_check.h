/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether events are right, and can be counted at once: ophelp --check-events. */
#pragma once

#include "base/strbuf.h"
#include "event/catalog.h"
#include "event/cpu_type.h"
#include "event/event.h"

/* Checks events, separated by commas or blanks, on CPUs of @type; with @ignore_count their counts
 * are not looked at. Adds their counters to @out, separated by blanks, "-" for what needs none. 0,
 * or negative with the reason. */
int ophelp_check(const struct cpu_type *type, const char *list, bool ignore_count,
		 struct strbuf *out, struct error *err);
