/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns of the symbol list in one report: those that are shown, in order, with those of one
 * class together, as wide as their content. Text formatters print through it.
 *
 *	struct table t;
 *	table_init(&t, report);
 *	table_print_heads(&t, out);
 *	for (i = 0; i < t.count; i++)
 *		...table_write_cell(&line, &t.places[i], &cell)
 *	table_done(&t);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct cell;
struct column;
struct container;
struct report;
struct strbuf;

struct table_place {
	const struct column *column;
	size_t class;	    /* of the column; 0 for columns that occur once */
	unsigned int width; /* with the blank after it; 0: the last one */
};

struct table {
	const struct report *report; /* borrowed */
	struct table_place *places;
	size_t count;
	unsigned int room; /* characters for the last column, 0: any number */
	bool is_tight;	   /* columns must not be wider than their minimum */
};

/* Places the columns of @report, which has its rows; the caller calls table_done(). */
void table_init(struct table *t, const struct report *report);
/* Frees what table_init() allocated. */
void table_done(struct table *t);
/* Characters that a cell may have at most; 0: any number. */
unsigned int table_room(const struct table *t, const struct table_place *place);
/* Prints the heads of the columns; with several classes, their names above. */
void table_print_heads(const struct table *t, FILE *out);
/* Prints what was removed from the rows of @c: below the threshold, beyond the first ones, or not
 * selected. */
void table_print_left_out(const struct report *r, const struct container *c, FILE *out);
/* Appends @text and blanks up to @width columns, at least one; no blanks if that is 0. */
void table_add_cell(struct strbuf *line, const char *text, unsigned int width);
/* Appends the cell as its column writes it, in colour if the share is large, and blanks as
 * table_add_cell() does. */
void table_write_cell(struct strbuf *line, const struct table_place *place,
		      const struct cell *cell);
