/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a Java virtual machine is asked to write its perf map (jit/attacher.h): if samples are in
 * code of a process that no file describes, and again if there is new code, at growing intervals.
 * One that cannot be asked is not asked again; one that does not answer only a few times, and one
 * whose user's processes hang when they do no longer.
 *
 *	java_map_want(attacher, jit_files_query(files), serial, &map);
 *	...
 *	if (attacher_take(attacher, &answer))
 *		java_map_note(&map, &answer);
 */
#pragma once

#include <stdint.h>

struct attacher;
struct attacher_answer;
struct jit_files_query;

/* What is known of a process; zeroed at the start. */
struct java_map {
	unsigned int wanted;   /* times */
	unsigned int failures; /* in a row */
	uint64_t next_ns;      /* when it may be asked again */
	uint64_t every_ns;     /* the interval */
};

/* Notes that the code of a process is not known; asks, if it is time and nobody else is asked. */
void java_map_want(struct attacher *a, const struct jit_files_query *query, uint64_t serial,
		   struct java_map *map);
/* Notes an answer; a failure is logged once. */
void java_map_note(struct java_map *map, const struct attacher_answer *answer);
