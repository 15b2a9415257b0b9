/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The messages between a parser (parser/parser.h) and its worker. The worker writes answers; the
 * parser treats them as untrusted bytes. For parser.c and the tests. */
#pragma once

#include "base/span.h"
#include "file/build_id.h"
#include "helper/sandbox.h"
#include "jit/jit_source.h"
#include "parser/parser_pages.h"
#include "parser/parser_places.h"

struct unwind_rules;
struct unwind_table;

enum parser_what {
	PARSER_BUILD_ID,
	PARSER_TABLE,
	PARSER_FUNCTIONS,
	PARSER_JIT,
	PARSER_PAGES,
	PARSER_LINES
};

/* Bytes of a file of run-time code that are read for one answer, which is at most ten times as
 * long; more if a record is longer. */
enum { PARSER_JIT_PORTION = 256 << 10 };

/* An answer of PARSER_JIT is a sequence of these, each with its fields, up to END. */
enum parser_jit { PARSER_JIT_END, PARSER_JIT_LOAD, PARSER_JIT_MOVE, PARSER_JIT_UNLOAD };
/* Flags of a LOAD: jit_code->late, the code's bytes follow. */
enum { PARSER_JIT_LATE = 1, PARSER_JIT_BYTES = 2 };

struct parser_request {
	uint32_t what; /* enum parser_what */
	uint32_t unused;
	uint64_t now; /* PARSER_JIT */
	struct jit_source_state state;
	struct parser_pages pages;   /* PARSER_PAGES: the answer has just these */
	struct parser_places places; /* PARSER_LINES */
};

/* The worker: serves a request (a sandbox's ->serve). */
void parser_serve(const void *request, size_t size, int fd, struct sandbox_reply *reply);

/* Reads pages as the worker does; see parser_pages(). */
int parser_read_pages(int fd, const struct parser_pages *pages, void *ret);

/* These parse an answer: 0, or -EBADMSG if it is invalid. */
int parser_take_build_id(struct span in, struct build_id *ret);
/* Makes a table, whose rows then refer to @rules; caller frees. @in has the alignment of a row; its
 * bytes may change while they are read. */
int parser_take_table(struct span in, struct unwind_rules *rules, struct unwind_table **ret);
/* Passes the records to @sink; the bytes must not change while they are read. *@ret_state becomes
 * the source's new state, *@ret_read the number of bytes that it read, or -errno with the reason in
 * @err. */
int parser_take_jit(struct span in, const struct jit_sink *sink, struct jit_source_state *ret_state,
		    int64_t *ret_read, struct error *err);
