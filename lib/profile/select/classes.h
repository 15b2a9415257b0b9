/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classes are the columns of a report. A class is a combination of event, count, unit mask, host,
 * cgroup, name of threads, process, thread and CPU, without what is merged; each sample file
 * belongs to one. Because there is only one row of column heads, classes may differ along one axis
 * only, such as the CPU.
 *
 *	struct classes c;
 *	if (classes_arrange(gather, CLASSES_MERGE_CPU, &c, err) == 0)
 *		column = c.of_file[i];
 *	classes_done(&c);
 */
#pragma once

#include "base/error.h"
#include "base/intern.h"
#include "sfile/sname.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gather;

/* --merge, a set of bits. */
enum classes_merge {
	CLASSES_MERGE_CPU = 1,
	CLASSES_MERGE_TID = 2,
	CLASSES_MERGE_TGID = 4, /* implies TID */
	CLASSES_MERGE_UNIT_MASK = 8,
	CLASSES_MERGE_LIB = 16, /* not about classes: merge the rows of all applications */
	CLASSES_MERGE_CGROUP = 32,
	CLASSES_MERGE_COMM = 128,
	CLASSES_MERGE_ALL = 63 | 128,
	CLASSES_MERGE_RUNTIME = 256, /* not about classes: hide interpreters' frames in chains */
	CLASSES_MANY_AXES = 64,	     /* no merging: classes may differ along several axes */
	CLASSES_BY_HOST = 512	     /* hosts are apart, which are merged otherwise */
};

enum class_axis {
	AXIS_NONE,
	AXIS_EVENT,
	AXIS_HOST,
	AXIS_CGROUP,
	AXIS_COMM,
	AXIS_TGID,
	AXIS_TID,
	AXIS_CPU,
	AXIS_COUNT_
};

struct class
{
	const char *event; /* as in names of sample files; borrowed from the gather */
	const char *host;  /* the same; NULL: merged, or not known */
	int64_t count, unit_mask;
	struct sname_task task; /* merged parts are as if they were not separated */
	const char *event_text; /* the event as people write it: sname_event_text() */
	char *name;		/* for the head of the column: the event, "cpu:0", "tid:7" */
	const char *comm; /* the name of that thread or process, if known; else NULL; borrowed */
};

struct classes {
	struct class *classes; /* by event, then host, cgroup, comm, tgid, tid, cpu, step of time */
	size_t count, room;
	uint32_t *of_file;    /* the class of each file of the gather; of its first step */
	uint32_t steps;	      /* classes that differ in time or block only: slots of the gather */
	enum class_axis axis; /* the axis along which they differ; the first of several */
	struct intern texts;  /* that ->event_text of all are in */
	unsigned int axes;    /* all axes along which they differ; bits 1 << axis */
};

/* Parses "cgroup,comm,cpu,lib,tid,tgid,unitmask,all"; the bits, or -EINVAL. */
int classes_merge_parse(const char *text, struct error *err);
/* Sorts the files of @g into classes. 0, the caller calls classes_done(); or -EINVAL if they differ
 * along two axes, with a remedy: what to select or merge. */
int classes_arrange(const struct gather *g, unsigned int merge, struct classes *ret,
		    struct error *err);
/* Makes one class of those that differ in their block only. */
void classes_join_blocks(struct classes *c);
/* Whether two classes are of one event with the same count and unit mask. */
bool class_same_event(const struct class *a, const struct class *b);
/* Frees what classes_arrange() allocated. */
void classes_done(struct classes *c);
