/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns of the symbol list as a table: head, width, when it is shown, how a cell is written.
 * The text of symbol lists is printed from it. CSV, JSON, XML and the summary have lists of their
 * own (format_csv.c, format_json.c, xml/format_xml.c, format_summary.c).
 *
 *	const struct column *columns = column_table(&n);
 *	struct cell cell = { .report = r, .row = row, .counts = counts, .totals = totals };
 *	columns[i].write(&cell, line);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct detail;
struct report;
struct row;
struct strbuf;

/* What a cell is written from. */
struct cell {
	const struct report *report;
	const struct row *row;
	const struct detail *detail; /* the address of the row that it is about; NULL: all */
	size_t class;
	const uint64_t *counts; /* of each class: of the row, or of a part of it */
	const uint64_t *totals; /* of each class: the base of percentages */
	uint64_t sum;		/* of the class, of all rows up to this one */
	unsigned int room;	/* characters that it may have, 0: any number */
	unsigned int width;	/* of the column */
};

struct column {
	const char *head;
	unsigned int width; /* in characters, at least */
	unsigned int most;  /* limit of the width; longer cells stick out */
	bool per_class;	    /* occurs once for each class, next to its neighbours */
	bool of_detail;	    /* also applies to a single address */
	bool is_share;	    /* in colour if it is large */
	bool (*is_shown)(const struct report *r);
	/* Characters of the longest cell, or more; NULL: never longer than ->width. */
	unsigned int (*longest)(const struct report *r);
	void (*write)(const struct cell *cell, struct strbuf *out);
	const char *time_head; /* the head for a class of milliseconds; NULL: the same */
};

/* The table, in the order of printing. */
const struct column *column_table(size_t *ret_count);
