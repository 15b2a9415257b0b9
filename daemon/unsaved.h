/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the daemon cannot save. A plain value: nothing to free.
 *
 *	unsaved_say(&unsaved, collector);		a few times a second
 *	r = unsaved_stop(&unsaved, collector, err);
 *	all = unsaved_end(&unsaved, collector);		before the daemon ends
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct collector;
struct error;

struct unsaved {
	uint64_t said; /* unwritten samples reported in the log so far */
	uint64_t lost; /* since the last stop */
	bool is_rest;  /* what the last stop had to write can be tried again */
};

/* Logs samples that could not be written at first and each time their number has grown tenfold. */
void unsaved_say(struct unsaved *u, const struct collector *c);
/* Stops the collector. Returns 0, or -errno: also if samples could not be written just then. */
int unsaved_stop(struct unsaved *u, struct collector *c, struct error *err);
/* Tries again what could not be written, or waited for memory or descriptors. Returns whether all
 * of it is saved, and no session was removed meanwhile; what is lost is in the log. */
bool unsaved_end(struct unsaved *u, struct collector *c);
