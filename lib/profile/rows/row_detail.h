/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of a row one by one, address by address, for --details: kept by populate where asked
 * for, read by the formatters. They live in the container.
 *
 *	struct detail d;
 *	detail_begin(&d, &container, row);
 *	while (detail_next(&d))
 *		printf("%lx %lu\n", d.address, d.counts[class]);
 *	detail_done(&d);
 *
 * A placer finds source lines and keeps their files' names in the container:
 *
 *	struct placer *p = placer_new(&container, elf, debug);
 *	row->place = placer_find(p, address);
 *	placer_free(p);
 */
#pragma once

#include "profile/rows/container.h"

struct elffile;
struct lines;
struct placer;
struct sample;

/* Neighbouring samples of a row: those in one piece of its symbol. */
struct row_run {
	const struct sample *samples;	/* by offset */
	const struct row_place *places; /* one a sample, or NULL */
	size_t count;
	uint64_t shift;	      /* address as linked minus offset */
	struct row_run *next; /* the last one's is the first one; a row points to its last */
};

/* One address of a row. */
struct detail {
	uint64_t address;
	uint64_t *counts; /* one a class */
	struct row_place place;
	/* private */
	size_t class_count, at;
	const struct row_run *run, *last;
};

/* Keeps the @count samples from @samples on, sorted, which are those of the container's row @row
 * from its last ones on; @shift is what their addresses differ from their offsets by. With @placer,
 * their lines too. */
void detail_keep(struct container *c, struct row *row, const struct sample *samples, size_t count,
		 uint64_t shift, struct placer *placer);

/* Goes through the addresses of @row, in the order they were kept. */
void detail_begin(struct detail *d, const struct container *c, const struct row *row);
/* The next one; false after the last. */
bool detail_next(struct detail *d);
/* Frees what detail_begin() allocated. */
void detail_done(struct detail *d);
/* The last address of @row; 0 if it has none. */
uint64_t detail_highest(const struct row *row);
/* The number of addresses that @row has samples at. */
size_t detail_count(const struct row *row);

/* Finds lines in the debug information of @ef or @debug, which may be NULL; both are borrowed.
 * Caller frees, before the files are closed. */
struct placer *placer_new(struct container *c, const struct elffile *ef,
			  const struct elffile *debug);
void placer_free(struct placer *p);
/* What it finds lines with; borrowed. */
struct lines *placer_lines(const struct placer *p);
/* The line that the code at @address was compiled from; ->file is NULL where that is not known. */
struct row_place placer_find(struct placer *p, uint64_t address);
