/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares two profiles row by row, usually one before and one after a change. Each row of the
 * second profile gets the counts of the corresponding row of the first; rows that only the first
 * profile has are added and marked as gone.
 *
 *	struct diff_side first = { gather, binaries, &classes, &container }, second = ...;
 *	if (diff_compare(&first, &second, err) == 0)
 *		...second.container's rows have ->before
 *
 * Applications and images correspond if they have the same path: of several builds first those that
 * both sides have, then the others in their order; or their rows are added up (diff_builds.h). If
 * exactly one on each side has no partner by path, the same last part of the path suffices. Symbols
 * correspond by their linker name. If several symbols of an image have one name (static functions
 * of several files), those in the same source file correspond: first at the same line, then in the
 * order of their lines.
 */
#pragma once

#include "base/error.h"
#include "profile/rows/statistics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct container;
struct diff_side;
struct row;

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

/* 0, or -EINVAL with the reason if two profiles have different columns, so that their counts cannot
 * be compared. Reads only ->gather and ->classes. */
int diff_check_classes(const struct diff_side *a, const struct diff_side *b, struct error *err);
/* Merges the rows of @first into those of @second, after those of several builds were added up in
 * both: its container then has ->before, and its gather has the images of both, so that @first's
 * must live as long. 0, or -EINVAL if the two differ in their columns. */
int diff_compare(const struct diff_side *first, struct diff_side *second, struct error *err);

/* Merges the rows of @first into those of @second. @images: of @second's gather, by image of the
 * first. @partners: the row of @second for each row of @first, or GATHER_NONE; becomes the row that
 * was added there. */
void diff_join(const struct container *first, struct container *second, const uint32_t *images,
	       uint32_t *partners);

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

/* Whether a difference is one, and the mark that the text of a report has for it. Of 20 equal rows
 * one differs as much as "perhaps" says; so "more" and "less" take into account how many rows are
 * compared. */
#define DIFF_VERDICTS(X)                                                                           \
	X(CHANCE, "chance", " ~")   /* chance alone makes it in more than 1 of 20 cases */         \
	X(PERHAPS, "perhaps", " ?") /* in fewer, but there are many rows */                        \
	X(MORE, "more", "")	    /* of those that are called more or less, 1 of 20 is chance */ \
	X(LESS, "less", "")

enum diff_verdict {
#define X(verdict, name, mark) DIFF_##verdict,
	DIFF_VERDICTS(X) DIFF_VERDICT_COUNT_
#undef X
};

/* Its name for programs; static. */
const char *diff_verdict_name(enum diff_verdict verdict);
/* What follows the difference in text; static. */
const char *diff_verdict_mark(enum diff_verdict verdict);

/* Two counts that are compared. */
struct diff_pair {
	struct statistics_part was, is;
	enum diff_verdict verdict;
};

/* Finds the verdicts of all pairs, which are compared at the same time. */
void diff_judge_pairs(struct diff_pair *pairs, size_t count, enum diff_by by);
/* By how much the second count, or share, is larger than the first, relative to that; the first is
 * not 0. */
double diff_percent(const struct diff_pair *p, enum diff_by by);
/* Finds the verdicts of all rows; after diff_compare(), once, before rows are removed. */
void diff_judge(struct container *c, enum diff_by by);
/* The place of a row among the others, the smallest first: rows with a significant difference in
 * any class come before those with one that may be, and these before the rest; each by how many
 * samples, or percent of all, they differ by. The same for all rows that have no verdicts. */
uint64_t diff_rank(const struct container *c, const struct row *row);
/* Compares a row with its counts in the first profile. *ret_percent: by how much it grew relative
 * to them, if it is in both. */
enum diff_change diff_of_row(const struct container *c, const struct row *row, size_t class,
			     enum diff_by by, double *ret_percent, enum diff_verdict *ret_verdict);
