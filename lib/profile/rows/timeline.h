/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A timeline: when the samples of each image, symbol, application, cgroup or event were taken. The
 * counts are those of a profile whose time is divided into steps (select/classes.h), so each event
 * has a table, with a row for each thing and a column for each step.
 *
 *	struct timeline t;
 *	timeline_make(TIMELINE_IMAGE, gather, &classes, &container, &t);
 *	for (i = 0; i < t.table_count; i++)
 *		timeline_cut(&t.tables[i], 0.5, 20);
 *	timeline_done(&t);
 */
#pragma once

#include "base/error.h"
#include "history/steps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct class;
struct classes;
struct container;
struct gather;
struct row;

/* What has a row, and the name of that in options. */
#define TIMELINE_BYS(X)                                                                            \
	X(IMAGE, "image")                                                                          \
	X(SYMBOL, "symbol")                                                                        \
	X(APPLICATION, "application")                                                              \
	X(HOST, "host")                                                                            \
	X(CGROUP, "cgroup")                                                                        \
	X(COMM, "comm")                                                                            \
	X(EVENT, "event")

enum timeline_by {
	TIMELINE_NONE, /* no timeline */
#define X(by, name) TIMELINE_##by,
	TIMELINE_BYS(X) TIMELINE_COUNT_
#undef X
};

struct timeline_row {
	const struct row *row;	   /* NULL by host, cgroup, comm, event */
	const struct class *class; /* the first one of its steps */
	const uint64_t *counts;	   /* one per step */
	uint64_t sum;
};

/* What was left out. */
struct timeline_rest {
	size_t rows;
	uint64_t sum;
};

struct timeline_table {
	const struct class *class; /* of its event; NULL by event */
	struct timeline_row *rows;
	size_t count;
	uint64_t *totals; /* of all samples, one per step; NULL by event */
	uint64_t total;
	struct timeline_rest hidden, beyond;
};

/* What the history knows of a step of time, of all sessions together. */
struct timeline_step {
	int64_t covered_ms; /* length of the slices whose counts these are */
	bool is_recorded;   /* some slice has an instant in it, maybe one that counts for another */
	bool is_counted;    /* some slice counts for it */
	uint64_t samples, taken, lost;
};

struct timeline {
	enum timeline_by by;
	struct steps steps;
	struct timeline_step *cover; /* one per step */
	struct timeline_table *tables;
	size_t table_count;
};

/* Parses "image", ...; NULL is "image". -EINVAL if there is no such kind. */
int timeline_by_parse(const char *text, struct error *err);
/* "image", ...; static. */
const char *timeline_by_name(enum timeline_by by);
/* What has to be merged so that classes differ in what the timeline shows: enum classes_merge. */
unsigned int timeline_merge(enum timeline_by by);
/* The host, cgroup or name of threads of a class, in a timeline by that; NULL: not known, or not
 * kept separate. Borrowed. */
const char *timeline_class_name(enum timeline_by by, const struct class *class);
/* Whether there is a thing that can have a row: by host, cgroup or comm, whether a class has
 * one. */
bool timeline_has_things(enum timeline_by by, const struct classes *classes);

/* Makes the tables. The rows are those of @c, in its order, which may be that of the sums of all
 * events; all is borrowed. The caller calls timeline_done(). */
void timeline_make(enum timeline_by by, const struct gather *g, const struct classes *classes,
		   const struct container *c, struct timeline *ret);
/* Orders the rows by their samples, the most first; by event, whose units differ, as they are. */
void timeline_sort(struct timeline_table *t);
/* Leaves out the rows with less than @percent of the table's samples, and those after @top (0:
 * none). */
void timeline_cut(struct timeline_table *t, double percent, uint64_t top);
/* Frees what timeline_make() allocated. */
void timeline_done(struct timeline *t);
