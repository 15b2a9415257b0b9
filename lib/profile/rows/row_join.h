/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Joins the rows of code that was made at run time. Each process, and each region of its memory, is
 * an image of its own in a session, at addresses that mean nothing in another process. People ask
 * about a program: all its regions are one image, "[JIT node]", and functions of one name are one
 * row.
 *
 *	row_join_regions(&container, gather, NULL);
 */
#pragma once

#include "base/map.h"
#include "profile/rows/container.h"

struct callgraph;
struct gather;

/* Lets the rows of @c whose image is a region be of its program (select/programs.h), and adds up
 * those that are the same then. Arcs of @graph, before callgraph_arrange(), follow; NULL: there are
 * none. Rows must be in the order of their ids. */
void row_join_regions(struct container *c, const struct gather *g, struct callgraph *graph);

/* Lets the rows of interpreted functions, which have applications, be of the interpreter's function
 * that ran them, and adds up those that are the same then. With @merge_lib, they are of no
 * application then, as all others are. Rows must be in the order of their ids. */
void row_join_native(struct container *c, const struct gather *g, bool merge_lib);
/* The same for one row, which need not be in @c and is of no application then. Returns whether it
 * may now be the same as others; false if it is of another function. @known has what was found so
 * far, for calls with the same @g. */
bool row_join_loop(struct container *c, const struct gather *g, struct row *row, struct map *known);

/* The rows of programs, by name: index + 1. */
struct row_join {
	struct map by_hash;
};
/* The index of the row of @c that is the same as @row, whose image is a program; or, if there is
 * none, SIZE_MAX: the caller then adds it and calls row_join_note(). */
size_t row_join_find(const struct row_join *j, const struct container *c, const struct row *row);
void row_join_note(struct row_join *j, const struct row *row, size_t index);
void row_join_done(struct row_join *j);
