/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets the unit mask of an event, by number or by the names of masks. Nothing is allocated.
 *
 *	r = event_mask_named(info, "HITS+MISSES", &event, &err);
 *	if (r == 0)
 *		r = event_mask_set(info, 3, &event, &err);
 */
#pragma once

#include "base/error.h"
#include "event/catalog_types.h"
#include "event/event_types.h"

/* Sets the mask with that number, or else the named mask with that value. Where no mask is 0, 0
 * leaves @event the mask that it has. Returns 0, or -EINVAL if the event described by @info has no
 * such mask, or several with that value. */
int event_mask_set(const struct catalog_event *info, uint64_t mask, struct event *event,
		   struct error *err);
/* Returns -EINVAL with a message that the event has no mask @text and which it has. */
int event_mask_unknown(const struct catalog_event *info, const char *text, struct error *err);
/* Sets the masks called @names, "A" or "A+B". Returns 1; 0 if a name is unknown; -EINVAL if the
 * event cannot have them. */
int event_mask_named(const struct catalog_event *info, const char *names, struct event *event,
		     struct error *err);
