/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The members of a report in JSON that say what was profiled, and how well.
 *
 *	json_open(&j, NULL, '{');
 *	json_head(report, &j);
 */
#pragma once

#include <stddef.h>

struct container;
struct gather;
struct json;
struct losses;
struct report;

/* Writes the facts of the header: CPU, sessions, classes, losses. */
void json_head(const struct report *r, struct json *j);
/* Writes what is known of the sessions, and of the window of time, as the member @name; writes
 * nothing if that is unknown. */
void json_sessions(const struct gather *g, const char *name, struct json *j);
/* Writes the names of other sessions that have samples of the window, too, as the member @name;
 * writes nothing if there are none. */
void json_other_sessions(const struct gather *g, const char *name, struct json *j);
/* Writes how the noise of a profile of the report was measured as the member @name; writes nothing
 * if it was not. */
void json_noise(const struct report *r, const struct container *c, const char *name,
		struct json *j);
/* Writes the losses as the member @name. */
void json_losses(const struct losses *l, const char *name, struct json *j);
/* Writes where and why the chains of r->chains end as the member @name: of each reason, the @most
 * images with the most samples, and what is in all others together. */
void json_chain_ends(const struct report *r, const char *name, size_t most, struct json *j);
