/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The single samples of each row, by address, for --details. They are kept in the container while
 * it is filled (populate.h), if the report wants them, and formatters read them from there.
 *
 *	struct detail d;
 *	detail_begin(&d, &container, row);
 *	while (detail_next(&d))
 *		printf("%lx %lu\n", d.address, d.counts[class]);
 *	detail_done(&d);
 */
#pragma once

#include "profile/rows/container.h"

struct placer;
struct sample;

/* Neighbouring samples of a row: those in one piece of its symbol. */
struct row_run {
	const struct sample *samples;	/* by offset */
	const struct row_place *places; /* one per sample, or NULL */
	size_t count;
	uint64_t shift;	      /* address as linked minus offset */
	struct row_run *next; /* the last one's is the first one; a row points to its last */
};

/* One address of a row. */
struct detail {
	uint64_t address;
	uint64_t *counts; /* one per class */
	struct row_place place;
	/* private */
	size_t class_count, at;
	const struct row_run *run, *last;
};

/* Keeps @count sorted samples, whose offsets are above those already kept for @row, a row of the
 * container. @shift is the difference of their addresses to their offsets. With @placer (may be
 * NULL), their lines, too. */
void detail_keep(struct container *c, struct row *row, const struct sample *samples, size_t count,
		 uint64_t shift, struct placer *placer);

/* Adds the samples of @other, which must not be used any more, to those of @row: of other code with
 * the same name. */
void detail_join(struct row *row, const struct row *other);
/* Begins to go through the addresses of @row, in the order in which they were kept. */
void detail_begin(struct detail *d, const struct container *c, const struct row *row);
/* The next one; false after the last. */
bool detail_next(struct detail *d);
/* Frees what detail_begin() allocated. */
void detail_done(struct detail *d);
/* The last address of @row; 0 if it has none. */
uint64_t detail_highest(const struct row *row);
/* The number of addresses at which @row has samples. */
size_t detail_count(const struct row *row);
