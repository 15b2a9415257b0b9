/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile as a page for a browser: a tree of functions, with the samples of each step of time, as
 * columns of numbers after a JSON head (man opreport-output.5, "PAGE DATA"). Either these data
 * alone, as opweb serves them, or a file of HTML that contains them and the program that shows
 * them. What is printed is in the report: whole call chains, or rows by symbol.
 *
 *	page_html(&report, stdout);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct page;
struct report;

/* The most nodes of the tree that are written to a file, and served; what has fewer samples is
 * added up. */
enum { PAGE_NODES_MAX = 150000, PAGE_NODES_SERVED_MAX = 2000000 };
/* The most counts of a node in a step of time; the tree gets fewer nodes if there were more. */
enum { PAGE_MOMENTS_MAX = 2000000 };
/* The most tasks that samples are divided by in a file; those with fewer samples are one. */
enum { PAGE_TASKS_MAX = 2000 };
/* How large the file may become: the tree gets fewer nodes if it were larger, and then the rarest
 * functions are added up. Of these bytes, some are kept for sources of functions. */
enum { PAGE_BYTES_MAX = 2000000, PAGE_SOURCE_BYTES = 150000 };
/* The most steps of time. */
enum { PAGE_STEPS_MAX = 600 };

/* Prints the data that are served: head and columns. */
void page_data(const struct report *r, FILE *out);
/* Gathers the same, with at most @nodes of the tree; the caller calls page_end(). */
struct page *page_begin(const struct report *r, size_t nodes);
/* How much is printed of a page: nodes of the tree, and functions besides those of the nodes. */
struct page_most {
	size_t nodes, functions;
};
/* Prints it with at most so much. There are no more nodes in later calls. */
void page_print(struct page *p, struct page_most most, FILE *out);
/* How many nodes were printed. */
size_t page_nodes(const struct page *p);
/* Whether there are fewer of them because of the counts in steps of time: then there would be
 * hardly more if more had been gathered. */
bool page_is_crowded(const struct page *p);
void page_end(struct page *p);
/* Prints what the file contains of the profile that it compares its own with, for view->second, or
 * of another event, for view->other_events; at
 * most half of the file. */
void page_second(const struct report *r, FILE *out);
/* Prints the source file that each function begins in, as far as it is known, as one object of JSON
 * (man opreport-output.5): what the data of a file have, and those that are served do not. */
void page_files(const struct report *r, FILE *out);
/* Prints the HTML file, with those of the report's sources that fit, the first ones. */
void page_html(const struct report *r, FILE *out);
/* The page without data, compressed by gzip: returns its size, and sets @ret, static. Its program
 * then fetches "data" from the server that it came from. */
size_t page_packed(const void **ret);
/* The Content-Security-Policy of the page, for a server's header. Static. */
const char *page_policy(void);
