/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a parser and its worker say to each other (parser/parser.h). The worker's half writes
 * answers, ours takes them apart as the bytes of a stranger. For parser.c, and the tests. */
#pragma once

#include "base/build_id.h"
#include "base/sandbox.h"
#include "base/span.h"
#include "jit/jit_source.h"

struct unwind_rules;
struct unwind_table;

enum parser_what { PARSER_BUILD_ID, PARSER_TABLE, PARSER_JIT };

/* An answer of PARSER_JIT is a row of these, each with its fields; the last is END. */
enum parser_jit { PARSER_JIT_END, PARSER_JIT_LOAD, PARSER_JIT_MOVE, PARSER_JIT_UNLOAD };
/* Flags of a LOAD: jit_code->late, the code's bytes follow. */
enum { PARSER_JIT_LATE = 1, PARSER_JIT_BYTES = 2 };

struct parser_request {
	uint32_t what; /* enum parser_what */
	uint32_t unused;
	uint64_t now; /* PARSER_JIT */
	struct jit_source_state state;
};

/* The worker: does what is asked for (a sandbox's ->serve). */
void parser_serve(const void *request, size_t size, int fd, struct sandbox_reply *reply);

/* Take an answer apart: 0, or -EBADMSG if it makes no sense. */
int parser_take_build_id(struct span in, struct build_id *ret);
/* The table's rows go by @rules afterwards; caller frees. @in is aligned as a row is; its bytes may
 * change meanwhile. */
int parser_take_table(struct span in, struct unwind_rules *rules, struct unwind_table **ret);
/* What there was to say goes to @sink; the bytes must not change meanwhile. In *@ret_state where to
 * go on, in *@ret_read the bytes that were read, or -errno with the reason in @err. */
int parser_take_jit(struct span in, const struct jit_sink *sink, struct jit_source_state *ret_state,
		    int64_t *ret_read, struct error *err);
