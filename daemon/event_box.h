/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks up events in a process of its own while the daemon runs: a specification from a user goes
 * to libpfm4, and if that ends its process or does not return, only the request fails.
 *
 *	event_box_clean_environment();		first of all
 *	event_box_new(&box, err);		before there are threads
 *	r = event_box_code(box, "INST_RETIRED", &code, err);
 *	event_box_free(box);
 *
 * Requests return 0, -EINVAL with the reason if there is no such event, or another -errno if the
 * process failed.
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "event/event_types.h"

#include <stdint.h>

struct event_box;
struct event_terms;

/* Unsets the variables that libpfm4 would obey. */
void event_box_clean_environment(void);

/* Parses the events that the daemon is started with in another process first. 0 if this process can
 * do it and live, whatever the result; -EINVAL if not. */
int event_box_try(const char *specs, struct error *err);

/* Makes the box; 0 or -errno. Caller frees. */
int event_box_new(struct event_box **ret, struct error *err);
/* NULL is fine. */
void event_box_free(struct event_box *box);
DEFINE_CLEANUP(struct event_box *, event_box_free);

/* The code of the event that @spec describes, if nodes of oprofilefs can have it. */
int event_box_code(struct event_box *box, const char *spec, uint64_t *ret, struct error *err);
/* Makes the event that has @code on this machine (0: the clock), with @terms. */
int event_box_make(struct event_box *box, uint64_t code, const struct event_terms *terms,
		   struct event *ret, struct error *err);
