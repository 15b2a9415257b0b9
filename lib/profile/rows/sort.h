/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts rows by a list of keys. If they are equal in these, the other keys decide in a fixed order,
 * so that two runs over one session print the same.
 *
 *	struct sort sort;
 *	if (sort_parse("image,symbol", &sort, err) == 0)
 *		sort_rows(&container, gather, &sort);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct container;
struct gather;

/* In the order in which they decide by default. */
enum sort_key {
	SORT_DIFFERENCE, /* of two profiles; all rows of one are equal in it */
	SORT_SAMPLE,
	SORT_IMAGE,
	SORT_SYMBOL,
	SORT_VMA,
	SORT_APP_NAME,
	SORT_DEBUG,
	SORT_PATH, /* without a name of its own: for images of one name */
	SORT_KEY_COUNT_
};

struct sort {
	enum sort_key keys[SORT_KEY_COUNT_]; /* all of them, the most significant first */
	bool reverse;
	bool long_names; /* order images as they are shown */
};

/* Parses a comma list of keys; NULL is the default order. 0 or -EINVAL. */
int sort_parse(const char *keys, struct sort *ret, struct error *err);
/* Sorts the rows, which must have their texts (container_name()). */
void sort_rows(struct container *c, const struct gather *g, const struct sort *sort);
