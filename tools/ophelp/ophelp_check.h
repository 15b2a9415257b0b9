/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether events are right, and can be counted at once: ophelp --check-events. */
#pragma once

#include "base/strbuf.h"
#include "event/catalog.h"
#include "event/cpu_type.h"
#include "event/event.h"

/* Whose events: those of a CPU type anywhere, or of a machine with its kernel's. */
struct ophelp_place {
	const struct cpu_type *type;
	const char *root; /* of the machine, NULL: anywhere */
};

/* The events of @place. */
const struct catalog *ophelp_catalog(const struct ophelp_place *place);
/* Parses a specification of one of them; as event_parse(). */
int ophelp_parse(const struct ophelp_place *place, const char *spec, struct event *ret,
		 struct error *err);

/* Checks events of @place, separated by commas or blanks; with @ignore_count their counts
 * are not looked at. Adds their counters to @out, separated by blanks, "-" for what needs none. 0,
 * or negative with the reason. */
int ophelp_check(const struct ophelp_place *place, const char *list, bool ignore_count,
		 struct strbuf *out, struct error *err);
