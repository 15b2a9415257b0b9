/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns of a page's data: arrays of little-endian numbers as wide as the largest one needs.
 * The struct owns the numbers.
 *
 *	struct page_columns c = { 0 };
 *	uint32_t *numbers = page_columns_begin(&c, "depth", count);
 *	numbers[0] = 7;
 *	page_columns_end(&c);
 *	page_columns_list(&c, &json);
 *	page_columns_print(&c, stdout);
 *	page_columns_done(&c);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json;

enum { PAGE_COLUMNS_MAX = 20 };

struct page_columns {
	struct page_column {
		const char *name; /* static */
		size_t count, width;
		uint8_t *bytes; /* padded */
	} list[PAGE_COLUMNS_MAX];
	size_t count, current;
};

/* Begins a column of @count numbers; returns them, all 0, for the caller to set. One of the same
 * name is replaced, in its place. */
uint32_t *page_columns_begin(struct page_columns *c, const char *name, size_t count);
/* Makes the column that was begun last as narrow as its numbers allow. */
void page_columns_end(struct page_columns *c);
/* Writes the member "columns": of each name, bytes of a number, where it begins after the head, how
 * many numbers. */
void page_columns_list(const struct page_columns *c, struct json *j);
void page_columns_print(const struct page_columns *c, FILE *out);
/* Prints a number of @width bytes, as in a column. */
void page_columns_number(uint32_t value, size_t width, FILE *out);
void page_columns_done(struct page_columns *c);
