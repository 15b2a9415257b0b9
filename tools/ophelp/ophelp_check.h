/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ophelp --check-events: whether events are valid and can be counted at the same time. */
#pragma once

#include "base/strbuf.h"
#include "event/catalog.h"
#include "event/cpu_type.h"
#include "event/event.h"

/* The events of a CPU type, or of a machine including its kernel's. */
struct ophelp_place {
	const struct cpu_type *type;
	const char *root; /* of the machine; NULL: the CPU type alone */
};

/* Returns the events of @place. */
const struct catalog *ophelp_catalog(const struct ophelp_place *place);
/* Parses a specification of one of them, like event_parse(). */
int ophelp_parse(const struct ophelp_place *place, const char *spec, struct event *ret,
		 struct error *err);

/* Checks a list of events of @place, separated by commas or blanks; @ignore_count skips their
 * counts. Adds their counters to @out, separated by blanks, with "-" for an event that needs none.
 * Returns 0, or a negative errno with the reason. */
int ophelp_check(const struct ophelp_place *place, const char *list, bool ignore_count,
		 struct strbuf *out, struct error *err);
