/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what the catalogue has of an event to how it is programmed; for event.h's own use.
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

/* Makes @event the one of @info, as it is usually asked for. */
void event_fill(struct event *event, const struct catalog_event *info);
/* Sets how @event, with its unit mask, is programmed on CPUs of @type; 0, or -EINVAL where libpfm4
 * refuses it. */
int event_encode(const struct catalog_event *info, const struct cpu_type *type, struct event *event,
		 struct error *err);

/* Programs @event, the CPU's own, for one of several types of cores. */
void event_bind(struct event *event, const struct evsys_pmu *pmu);
