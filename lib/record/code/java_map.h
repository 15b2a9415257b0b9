/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a Java virtual machine is asked to write its perf map (jit/attacher.h): if samples are in
 * code that nothing describes, and again if they are in such code after the last question. So one
 * whose code no longer grows is not asked. The time between two questions grows with the code,
 * each piece of which costs the virtual machine some microseconds, and while maps have nothing new.
 * One that cannot be asked is not asked again; one that does not answer only a few times, and one
 * whose user's processes hang when they do no longer. Times are those of the caller.
 *
 *	java_map_miss(&map, sampled_ns);
 *	if (java_map_is_due(&map, now_ns) && attacher_ask(attacher, &question))
 *		java_map_ask(&map, now_ns, count);
 *	...
 *	if (attacher_take(attacher, &answer))
 *		java_map_note(&map, &answer);
 *	...					the map is read
 *	java_map_read(&map, count);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attacher_answer;

enum java_map_state {
	JAVA_MAP_IDLE,
	JAVA_MAP_ASKED,	 /* and has not answered */
	JAVA_MAP_WRITTEN /* and not read yet */
};

/* What is known of a process; zeroed at the start. */
struct java_map {
	enum java_map_state state;
	unsigned int failures; /* in a row */
	bool has_refused;      /* which is logged once */
	uint64_t missed_ns;    /* when code was met last that nothing describes; 0: never */
	uint64_t asked_ns;     /* when it was asked last; 0: never */
	uint64_t told_ns;      /* the same, with success: what it had then is in the map */
	uint64_t wait_ns;      /* from one question to the next */
	size_t count;	       /* of pieces of code that were known then */
};

/* Notes that code was met at @time_ns that nothing describes. */
void java_map_miss(struct java_map *map, uint64_t time_ns);
/* Whether it is time to ask. */
bool java_map_is_due(const struct java_map *map, uint64_t now_ns);
/* The next question need not wait longer than the first ones do. */
void java_map_hurry(struct java_map *map);
/* Notes that it was asked when @count pieces of code were known. */
void java_map_ask(struct java_map *map, uint64_t now_ns, size_t count);
/* Notes the answer; a refusal is logged once. Returns whether it is one. */
bool java_map_note(struct java_map *map, const struct attacher_answer *answer);
/* Notes that the map, if one was written, was read, and that @count pieces of code are known. */
void java_map_read(struct java_map *map, size_t count);
