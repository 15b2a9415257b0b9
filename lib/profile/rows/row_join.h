/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Joins the rows of images that have one for all of them (select/programs.h). Each process, and
 * each region of its memory, is an image of its own in a session, at addresses that mean nothing in
 * another process. People ask about a program: all its regions are one image, "[JIT node]", and
 * functions of one name are one row. A file that is in several archives has one row for a function
 * of one name at one address.
 *
 *	row_join_images(&container, gather, false, NULL);
 */
#pragma once

#include "base/map.h"
#include "profile/rows/container.h"

struct callgraph;
struct gather;

/* Lets the rows of @c whose image is a region be of its program, and those whose image or
 * application is in several archives be of the first one, and adds up those that are the same then.
 * With @regions, regions stay. Arcs of @graph, before callgraph_arrange(), follow; NULL: there are
 * none. Rows must be in the order of their ids. */
void row_join_images(struct container *c, const struct gather *g, bool regions,
		     struct callgraph *graph);

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
	bool by_address; /* set by the caller: functions of files are apart at other addresses */
};
/* The index of the row of @c that is the same as @row, whose image is one that is shown; or, if
 * there is none, SIZE_MAX: the caller then adds it and calls row_join_note(). */
size_t row_join_find(const struct row_join *j, const struct container *c, const struct gather *g,
		     const struct row *row);
void row_join_note(struct row_join *j, const struct row *row, size_t index);
void row_join_done(struct row_join *j);
