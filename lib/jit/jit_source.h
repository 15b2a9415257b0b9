/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the files in which run-time compilers describe their code, while they grow. Three formats:
 *
 *  - jitdump (tools/perf/Documentation/jitdump-specification.txt in Linux), which has times, code
 *    and lines; libopagent writes it too, with records of its own for code that ends and inlined
 *    calls;
 *  - /tmp/perf-PID.map (tools/perf/Documentation/jit-interface.txt): lines of START SIZE NAME;
 *  - the dump of the original OProfile's libopagent.
 *
 *	struct jit_source *s = jit_source_new(fd, "/tmp/perf-7.map");
 *	jit_source_read(s, jit, now, &err);		again later, for what was added
 *	jit_source_free(s);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"

#include <stdbool.h>
#include <stdint.h>

struct jit;
struct jit_sink;

#define JIT_DUMP_MAGIC	  0x4a695444u /* "JiTD" */
#define JIT_OPAGENT_MAGIC 0x4f74496au /* "jItO" in memory */

/* Records of a jitdump. The last two are our own. */
enum jit_dump_record {
	JIT_DUMP_LOAD = 0,
	JIT_DUMP_MOVE = 1,
	JIT_DUMP_DEBUG_INFO = 2, /* lines of the code of the next LOAD */
	JIT_DUMP_CLOSE = 3,
	JIT_DUMP_UNWINDING_INFO = 4, /* .eh_frame of the code of the next LOAD */
	JIT_DUMP_UNLOAD = 0x4f50,    /* the address of code that ends */
	JIT_DUMP_INLINED =
		0x4f51 /* address and inlined calls (jit/jit_inlined.h) of the next LOAD */
};

struct jit_source;

/* Takes @fd, open for reading, or, if another process reads it, with O_PATH; @name is copied for
 * messages. Caller frees. */
struct jit_source *jit_source_new(int fd, const char *name);
/* Closes it; NULL is fine. */
void jit_source_free(struct jit_source *s);
DEFINE_CLEANUP(struct jit_source *, jit_source_free);

/* Reads what was added since the last call into @j; an incomplete record is read later. In a format
 * without times code is taken to exist since the last call. Returns the number of bytes read, or
 * negative, after which nothing more is read: -EBADMSG if damaged (earlier records are kept),
 * -ENOTSUP if from another kind of machine. */
int64_t jit_source_read(struct jit_source *s, struct jit *j, uint64_t now, struct error *err);

/* All that a source remembers between two calls of jit_source_read_some(). */
struct jit_source_state {
	uint32_t format; /* 0: not known yet */
	uint16_t machine;
	bool cycles, failed;
	uint64_t offset; /* of the next byte to read */
	uint64_t last_read, last_time;
};

/* As jit_source_read(), but passes records to @sink, and stops after the first record that ends
 * beyond @limit bytes. 0 if there is no more. The next call starts at ->offset, so that incomplete
 * records and lines whose code did not come yet are read again. */
int64_t jit_source_read_some(struct jit_source *s, const struct jit_sink *sink, uint64_t now,
			     uint64_t limit, struct error *err);
/* Saves its state. */
void jit_source_state(const struct jit_source *s, struct jit_source_state *ret);
/* Restores a state; an impossible one counts as failed. */
void jit_source_resume(struct jit_source *s, const struct jit_source_state *state);
/* Its descriptor; borrowed. */
int jit_source_fd(const struct jit_source *s);
/* Its name; borrowed. */
const char *jit_source_name(const struct jit_source *s);

/* Whether there may be something new to read. */
bool jit_source_grew(const struct jit_source *s);
/* Notes that the file, if it is a perf map, was written again from its start: all of it is read
 * again. */
void jit_source_again(struct jit_source *s);
/* Whether its records have times of CLOCK_MONOTONIC. */
bool jit_source_timed(const struct jit_source *s);
/* The time of the last record, up to which all code is known; 0 before the first. */
uint64_t jit_source_time(const struct jit_source *s);
