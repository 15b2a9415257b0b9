/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What run-time compilers write about their code, read as it grows, in any of three formats:
 *
 *  - jitdump (tools/perf/Documentation/jitdump-specification.txt in Linux), which has times, code
 *    and lines; libopagent writes it too, with one record of its own for code that goes;
 *  - /tmp/perf-PID.map (tools/perf/Documentation/jit-interface.txt): START SIZE NAME a line;
 *  - the dump of the original's libopagent.
 *
 *	struct jit_source *s = jit_source_new(fd, "/tmp/perf-7.map");
 *	jit_source_read(s, jit, now, &err);		again, when there may be more
 *	jit_source_free(s);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"

#include <stdbool.h>
#include <stdint.h>

struct jit;
struct jit_code;

#define JIT_DUMP_MAGIC	  0x4a695444u /* "JiTD" */
#define JIT_OPAGENT_MAGIC 0x4f74496au /* "jItO" in memory */

/* Records of a jitdump; the last is ours: its payload is the address of code that ends. */
enum jit_dump_record {
	JIT_DUMP_LOAD = 0,
	JIT_DUMP_MOVE = 1,
	JIT_DUMP_DEBUG_INFO = 2, /* lines of the code that the next LOAD brings */
	JIT_DUMP_CLOSE = 3,
	JIT_DUMP_UNWINDING_INFO = 4,
	JIT_DUMP_UNLOAD = 0x4f50
};

struct jit_source;

/* Takes @fd, open for reading; @name is copied for messages. Caller frees. */
struct jit_source *jit_source_new(int fd, const char *name);
/* Closes it; NULL is fine. */
void jit_source_free(struct jit_source *s);
DEFINE_CLEANUP(struct jit_source *, jit_source_free);

/* Reads what has come since the last time into @j; a record cut short waits for its rest. Code of a
 * format without times counts as there since the last read. 0 with the number of bytes taken, or
 * negative with the reason, after which nothing more is read from it: -EBADMSG if it is damaged
 * (what stood before is kept), -ENOTSUP if it is of another machine. */
int64_t jit_source_read(struct jit_source *s, struct jit *j, uint64_t now, struct error *err);

/* Where reading goes on: all that a source remembers between two calls of jit_source_read_some().
 */
struct jit_source_state {
	uint32_t format; /* 0: its first bytes were not seen yet */
	bool cycles, failed;
	uint64_t offset; /* of the first byte that was not taken */
	uint64_t last_read, last_time;
};

/* What is told of code, in order; the functions are those of jit/jit.h. */
struct jit_sink {
	void (*load)(void *data, const struct jit_code *code);
	void (*move)(void *data, uint64_t address, uint64_t to, uint64_t time);
	void (*unload)(void *data, uint64_t address, uint64_t time);
	void *data;
};

/* The sink that fills @j. */
void jit_source_sink(struct jit *j, struct jit_sink *ret);

/* As jit_source_read(), but to @sink, and no farther than the first record that ends behind @limit
 * bytes: 0 says that there is no more. It goes on from ->offset, so that a record that was cut
 * short, and what was said of code that has not come, is read again. */
int64_t jit_source_read_some(struct jit_source *s, const struct jit_sink *sink, uint64_t now,
			     uint64_t limit, struct error *err);
/* Its state; sets it. One that no source can have had is taken for a failed one. */
void jit_source_state(const struct jit_source *s, struct jit_source_state *ret);
void jit_source_resume(struct jit_source *s, const struct jit_source_state *state);
/* Its descriptor and its name; borrowed. */
int jit_source_fd(const struct jit_source *s);
const char *jit_source_name(const struct jit_source *s);

/* Whether its records have times of CLOCK_MONOTONIC. */
bool jit_source_timed(const struct jit_source *s);
/* The time of the last record read, 0 before the first: all code until then is known. */
uint64_t jit_source_time(const struct jit_source *s);
