/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of a page's tree, each with its name, kind and image. The numbers are: 0 for the
 * whole profile; the rows of the report from PAGE_ROWS on; then the sums of the rows that are left
 * out, one for each kind in each image of other rows or applications, and one for each kind in all
 * images that have none of these; then the applications and the marks of chains that end early, in
 * the order in which they were asked for; then one for what is too small to show. The report is
 * borrowed.
 *
 *	struct page_functions f;
 *	page_functions_init(&f, report, true);
 *	page_functions_note(&f, CHAINS_NODE_APP | 7);
 *	function = page_functions_number(&f, CHAINS_NODE_APP | 7);
 *	rest = page_functions_rest(&f);		the last one
 *	page_functions_write(&f, &json);
 *	page_functions_done(&f);
 */
#pragma once

#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;
struct report;
struct row;

enum { PAGE_ALL, PAGE_ROWS };

/* What a function is, which decides on its colour. The numbers and names are those of KINDS in
 * web/color.js. */
enum page_kind {
	PAGE_APPLICATION,
	PAGE_PROGRAM,
	PAGE_LIBRARY,
	PAGE_KERNEL,
	PAGE_SCRIPT,  /* Python, PHP, Ruby */
	PAGE_MANAGED, /* Java, Go */
	PAGE_JIT,
	PAGE_CUT,
	PAGE_NO_SYMBOL,
	PAGE_REST,
	PAGE_RARE /* the places in an image that were too rare to be kept */
};

struct page_functions {
	const struct report *report;
	uint32_t *order; /* indexes in the report, in the order of the page */
	uint32_t *rows;	 /* those that are not left out */
	size_t row_count;
	struct page_other *others; /* what is left out */
	size_t other_count, other_room;
	uint32_t *numbers;	   /* of each index: its place in the rows and the others */
	bool *is_program;	   /* by image: it was run; else it is a library */
	struct page_extra *extras; /* applications and marks */
	size_t count, room;
	struct map by_app; /* by image: index + 1 */
	struct map by_end; /* by number of the end: index + 1 */
};

/* With @by_name, rows are in the order of their names, else in that of the report. Names that have
 * much in common are next to each other then, so that a page is compressed to two thirds. */
void page_functions_init(struct page_functions *f, const struct report *r, bool by_name);
void page_functions_done(struct page_functions *f);
/* Notes what a node of the whole tree is (profile/rows/chains.h): applications are programs. */
void page_functions_note(struct page_functions *f, uint32_t what);
/* Forgets the numbers of applications and marks. */
void page_functions_forget(struct page_functions *f);
/* Leaves out the rows that are not @kept, by their indexes. The applications must have their
 * numbers. May be called again. */
void page_functions_leave_out(struct page_functions *f, const bool *kept);
/* How many numbers from PAGE_ROWS on are of rows, and of what is left out. */
size_t page_functions_listed(const struct page_functions *f);
/* Writes how many rows are left out, all of which have fewer than @below samples, as a member of an
 * open object; nothing if there are none. */
void page_functions_write_others(const struct page_functions *f, uint64_t below, struct json *j);
/* The row of the @i-th number from PAGE_ROWS on. */
const struct row *page_functions_row(const struct page_functions *f, size_t i);
/* Number of what a node of the tree is; a new one for an application, or the mark of an end, that
 * was not asked for before. */
uint32_t page_functions_number(struct page_functions *f, uint32_t what);
/* The same of what was asked for. */
uint32_t page_functions_find(const struct page_functions *f, uint32_t what);
/* The number after all of these. */
uint32_t page_functions_rest(const struct page_functions *f);
/* Writes the functions and the images that they are in, as members of an open object. */
void page_functions_write(const struct page_functions *f, struct json *j);
