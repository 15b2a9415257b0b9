/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two profiles held against each other, row by row: before and after a change. The rows of the
 * second take over the counts of the same rows of the first; rows that only the first has are added
 * as gone.
 *
 *	struct diff_side first = { gather, &classes, binaries, &container }, second = ...;
 *	if (diff_compare(&first, &second, err) == 0)
 *		...second.container's rows have ->before
 *
 * What is the same in both: an application or image by its path, or, where only one on each side
 * has no partner by path, by the last part of it; a symbol by its name as linked. Of several
 * symbols of one name in an image (static functions of several files) those in one source file are
 * the same, first at the same line, then in the order of their lines.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct binaries;
struct classes;
struct container;
struct gather;
struct row;

struct diff_side {
	struct gather *gather;
	const struct classes *classes;
	struct binaries *binaries; /* lines are looked for in them where names do not suffice */
	struct container *container;
};

/* How counts are compared. */
#define DIFF_BY(X)                                                                                 \
	X(SHARE, "share", "shares of all samples of each profile")                                 \
	X(SAMPLES, "samples", "numbers of samples, as if both profiles were of equal work")

enum diff_by {
#define X(by, name, meaning) DIFF_##by,
	DIFF_BY(X) DIFF_BY_COUNT_
#undef X
};

/* Parses one of the names; the enum, or -EINVAL. */
int diff_by_parse(const char *text, struct error *err);
/* What is compared, in words. */
const char *diff_by_meaning(enum diff_by by);

/* Merges the rows of @first into those of @second, whose container then has ->before and whose
 * gather has the images of both; @first's must live as long. 0, or -EINVAL where the two do not
 * have the same columns. */
int diff_compare(const struct diff_side *first, struct diff_side *second, struct error *err);

/* What became of a row in one class: it is in both, or only in one of the two. */
#define DIFF_CHANGES(X)                                                                            \
	X(CHANGED, "changed")                                                                      \
	X(NEW, "new")                                                                              \
	X(GONE, "gone")

enum diff_change {
#define X(change, name) DIFF_##change,
	DIFF_CHANGES(X) DIFF_CHANGE_COUNT_
#undef X
};

/* Its name for programs. */
const char *diff_change_name(enum diff_change change);

/* Holds a row against what it was. *ret_percent: how much more it is, relative to the first, where
 * it has changed. *ret_significant: the difference is more than chance would make in 19 of 20
 * cases.
 */
enum diff_change diff_of_row(const struct container *c, const struct row *row, size_t class,
			     enum diff_by by, double *ret_percent, bool *ret_significant);
