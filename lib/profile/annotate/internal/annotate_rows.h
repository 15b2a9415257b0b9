/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Things that are counted in two profiles, such as functions or lines, as rows that are compared
 * like those of a report (rows/diff.h). Those of each side have numbers, in the order in which they
 * are added, which stay when rows move.
 *
 *	struct annotate_rows rows;
 *	annotate_rows_init(&rows, sides);
 *	number = annotate_rows_add(&rows, 0, &(struct row){ .kind = ROW_IMAGE });
 *	annotate_rows_counts(&rows, 0, number)[class] += count;
 *	annotate_rows_settle(&rows, sides);
 *	annotate_rows_compare(&rows, images, partners);
 *	row = annotate_rows_at(&rows, 0, number);
 *	annotate_rows_done(&rows);
 */
#pragma once

#include "profile/annotate/annotate_side.h"
#include "profile/rows/container.h"

struct annotate_rows {
	struct container sides[2]; /* once they are compared, the second one has the rows of both */
	uint64_t **counts[2];	   /* of each number, with those of blocks */
	size_t added[2], room[2];
	uint32_t slots[2]; /* counts of each class: struct gather */
	uint32_t *rows[2]; /* of each number: its row, after annotate_rows_compare() that of the
			    * second container; or GATHER_NONE */
};

/* Without rows, before the classes' blocks are joined. The caller calls annotate_rows_done(). */
void annotate_rows_init(struct annotate_rows *r, const struct annotate_diff_side sides[2]);
/* Frees all; a zeroed one is fine. */
void annotate_rows_done(struct annotate_rows *r);

/* Adds a row without samples to a side; returns its number. */
uint32_t annotate_rows_add(struct annotate_rows *r, unsigned int side, const struct row *row);
/* The counts of a row by class, also those of blocks; to be changed before
 * annotate_rows_settle(). */
uint64_t *annotate_rows_counts(struct annotate_rows *r, unsigned int side, uint32_t number);
/* Sets the totals, and adds the counts of blocks up. Rows that only blocks have are removed. */
void annotate_rows_settle(struct annotate_rows *r, const struct annotate_diff_side sides[2]);
/* Compares settled rows: @partners has the number on the second side of each number of the first,
 * or GATHER_NONE; @images the images of the second side by those of the first. */
void annotate_rows_compare(struct annotate_rows *r, const uint32_t *images,
			   const uint32_t *partners);
/* The row of a number once they are compared, which both numbers of a pair have; NULL if it has no
 * samples. */
const struct row *annotate_rows_at(const struct annotate_rows *r, unsigned int side,
				   uint32_t number);
