/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The members of a report in JSON that compare two profiles.
 *
 *	json_comparison(report, &j);
 *	json_difference(report, "difference", (struct json_changed){ container, row, 0 }, &j);
 */
#pragma once

#include <stddef.h>

struct container;
struct json;
struct report;
struct row;

/* What may have changed: the count of a row in a class of the container. */
struct json_changed {
	const struct container *container;
	const struct row *row;
	size_t class;
};

/* Writes which two profiles are compared, as the member "comparison". */
void json_comparison(const struct report *r, struct json *j);
/* Writes the count in the first profile, and whether the change is significant, as the member @name
 * (NULL: in an array). */
void json_difference(const struct report *r, const char *name, struct json_changed changed,
		     struct json *j);
