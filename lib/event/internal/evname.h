/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the event that a name means to people who know it from OProfile 1.x: in capitals or not,
 * with a unit mask appended ("ld_blocks_partial_address_alias"), or renamed since; or from perf(1):
 * "page-faults". Nothing is allocated; events and masks belong to the catalogue.
 *
 *	struct evname found;
 *	if (evname_find(catalog_here(), "ITLB_ITLB_FLUSH", &found))
 *		puts(found.event->name);
 */
#pragma once

#include "event/catalog.h"

struct evname {
	const struct catalog_event *event;
	const struct catalog_mask *mask; /* that the name includes, or NULL */
};

/* Finds the event. An event of exactly that name comes before any other. Returns false if there is
 * none. */
bool evname_find(const struct catalog *c, const char *name, struct evname *ret);
