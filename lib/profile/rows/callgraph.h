/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who called whom: the arcs of call graph files, added up by function. An arc leads from one row of
 * the container to another; functions that occur only at the ends of arcs get rows without samples.
 * Arcs are kept in sorted arrays of row numbers, so that a graph of a million arcs costs no more
 * than sorting them.
 *
 *	populate_images(&job);
 *	callgraph_collect(&job, &graph);
 *	container_name(&container, NULL);
 *	sort_rows(&container, gather, &sort);
 *	callgraph_arrange(&graph, &container);
 *	for (i = graph.callers.first[row]; i < graph.callers.first[row + 1]; i++)
 *		...graph.callers.arcs[i].caller...
 *	callgraph_done(&graph);
 *
 * The graph owns the arcs, the container the rows. The binaries must be kept open (->keep in
 * binary.h), because those with samples were opened before.
 */
#pragma once

#include "profile/select/samples.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct container;
struct gather;
struct populate_job;

struct arc {
	uint32_t caller, callee; /* indexes of rows */
	const uint64_t *counts;	 /* one per class */
};

/* The arcs by the row at one end: that of row i are arcs[first[i]] up to arcs[first[i + 1]], by
 * descending count of all classes, then by the row at their other end. */
struct arc_list {
	struct arc *arcs;
	uint32_t *first;
};

struct callgraph {
	struct arc_list callees; /* by caller: what each row calls */
	struct arc_list callers; /* by callee: what each row is called from */
	size_t count;		 /* of arcs, each in both lists */
	size_t class_count;
	uint64_t *counts;
	bool *is_shown; /* one per row: it gets its own block, not only lines in those of others */
	/* Until callgraph_arrange(): the ids of caller and callee as offset; while it works: by
	 * both. */
	struct samples raw;
	struct arc *arcs;
};

/* Reads the call graph files of job->gather, finds the functions at both ends of each arc, and adds
 * the rows that job->out lacks. Files that cannot be read are warned of and counted in job->stats.
 * The caller calls callgraph_done(). */
void callgraph_collect(struct populate_job *job, struct callgraph *ret);
/* Adds up the arcs and puts them into both lists, once the rows of @c are in their final order. */
void callgraph_arrange(struct callgraph *graph, const struct container *c);
/* Frees all; a zeroed graph is fine. */
void callgraph_done(struct callgraph *graph);

/* Decides which rows get a block: selected ones in selected images, with a share of @percent in the
 * total of some event: their own samples, their callers' arcs or their callees'. Rows with less are
 * counted as hidden in @c; if @top is not 0, blocks after the first @top are counted as beyond. */
void callgraph_cut(struct callgraph *graph, const struct gather *g, struct container *c,
		   double percent, uint64_t top);
/* Adds the counts of all arcs of row number @row in @list to @sums, one per class. */
void callgraph_sum(const struct callgraph *graph, const struct arc_list *list, size_t row,
		   uint64_t *sums);
