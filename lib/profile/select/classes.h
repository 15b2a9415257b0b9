/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classes: the columns of a report. Each sample file belongs to the class whose template (event,
 * count, unit mask, cgroup, process, thread, CPU) it has; classes may differ along one axis only,
 * for there is one row of columns. What is merged is not looked at.
 *
 *	struct classes c;
 *	if (classes_arrange(gather, CLASSES_MERGE_CPU, &c, err) == 0)
 *		column = c.of_file[i];
 *	classes_done(&c);
 */
#pragma once

#include "base/error.h"
#include "sfile/sname.h"

#include <stddef.h>
#include <stdint.h>

struct gather;

/* --merge, a set of bits. */
enum classes_merge {
	CLASSES_MERGE_CPU = 1,
	CLASSES_MERGE_TID = 2,
	CLASSES_MERGE_TGID = 4, /* implies TID */
	CLASSES_MERGE_UNIT_MASK = 8,
	CLASSES_MERGE_LIB = 16, /* not about classes: applications are not told apart */
	CLASSES_MERGE_CGROUP = 32,
	CLASSES_MERGE_ALL = 63,
	CLASSES_MANY_AXES = 64 /* no merging: classes may differ along several axes */
};

enum class_axis { AXIS_NONE, AXIS_EVENT, AXIS_CGROUP, AXIS_TGID, AXIS_TID, AXIS_CPU, AXIS_COUNT_ };

struct class
{
	const char *event; /* borrowed from the gather */
	int64_t count, unit_mask;
	struct sname_task task; /* what is merged as if not separated */
	char *name;		/* for the column's head: the event, "cpu:0", "tid:7" */
};

struct classes {
	struct class *classes; /* by event, then cgroup, tgid, tid, cpu */
	size_t count, room;
	uint32_t *of_file;    /* the class of each file of the gather */
	enum class_axis axis; /* what they differ in; the first, if they may along several */
	unsigned int axes;    /* all that they differ in: a bit each, 1 << axis */
};

/* Parses "cgroup,cpu,lib,tid,tgid,unitmask,all"; the bits, or -EINVAL. */
int classes_merge_parse(const char *text, struct error *err);
/* Sorts the files of @g into classes. 0, the caller calls classes_done(); -EINVAL where they differ
 * along two axes, with what to select or merge. */
int classes_arrange(const struct gather *g, unsigned int merge, struct classes *ret,
		    struct error *err);
/* Frees what classes_arrange() allocated. */
void classes_done(struct classes *c);
