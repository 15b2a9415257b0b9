/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lines of a method that was compiled, and the calls inlined into it, from what JVMTI passes
 * with it.
 *
 *	struct java_debug lines = { .methods = methods, .code = code, .size = size };
 *	java_debug_inlined(&lines, compile_info);
 *	java_debug_write(&lines, agent);
 *	java_debug_done(&lines);
 */
#pragma once

#include "agent/opagent.h"

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>

struct java_methods;

/* Identifies an inlined call, and has those inlined into it. */
struct java_call {
	unsigned int caller, first, next; /* numbers; its first call, the next one of its caller */
	jmethodID method;
	jint bci; /* in its caller */
};

struct java_debug {
	struct java_methods *methods; /* borrowed */
	const char *code;
	size_t size;
	size_t known; /* up to where in the code all is added */
	struct debug_line_info *lines;
	struct op_inlined_call *calls;
	struct java_call *keys; /* one more than calls: 0 is the method itself */
	struct op_inlined_row *rows;
	size_t line_count, line_room, call_count, call_room, key_room, row_count, row_room;
};

/* Adds what the records of @info (jvmticmlr.h) say. Returns whether they say anything. */
bool java_debug_inlined(struct java_debug *l, const void *info);
/* Adds the lines of @method itself, which is all that JVMs without such records know. */
void java_debug_plain(struct java_debug *l, jmethodID method, const jvmtiAddrLocationMap *map,
		      jint count);
/* Writes all, for the code that is written next. */
void java_debug_write(const struct java_debug *l, op_agent_t agent);
/* Frees what was added. */
void java_debug_done(struct java_debug *l);
