/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns an event's catalogue entry into the values that program the event. Used only by the files
 * that implement event.h. Nothing is allocated for the caller.
 *
 *	event_fill(&event, info);
 *	event.unit_mask = 3;
 *	event_encode(info, type, &event, &err);
 */
#pragma once

#include "event/catalog_types.h"
#include "event/cpu_type.h"
#include "event/event_types.h"
#include "event/evsys.h"

/* Makes @event the event of @info with its default settings. */
void event_fill(struct event *event, const struct catalog_event *info);
/* Fills in how @event, with its unit mask, is programmed on CPUs of @type. Returns 0, or -EINVAL if
 * libpfm4 rejects it. */
int event_encode(const struct catalog_event *info, const struct cpu_type *type, struct event *event,
		 struct error *err);

/* Returns the specification of a tracepoint with its name as in sample files, or NULL if it is that
 * of another event of the machine under @root; the caller frees it. */
char *event_as_tracepoint(const char *root, const char *spec);

/* Programs @event, an event of the CPU's own, for one type of cores on a machine with several. */
void event_bind(struct event *event, const struct evsys_pmu *pmu);
