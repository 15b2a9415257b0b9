/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads what strangers wrote for a program with rights that they want: in a process without any
 * (base/sandbox.h), whose answers are checked as if they came from the stranger. A file on which
 * that process dies, or sits too long, is told of by name, and given up.
 *
 *	struct parser *p;
 *	parser_new(&p, err);			first of all
 *	parser_build_id(p, fd, &id);
 *	parser_tell(p);				now and then: what went wrong goes to the log
 *	parser_free(p);
 *
 * A NULL parser is allowed everywhere: then it is read here. Of the functions below
 * parser_table() may be called by one thread at a time, all others by another one.
 */
#pragma once

#include "base/build_id.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct jit;
struct jit_source;
struct parser;
struct unwind_rules;
struct unwind_table;

/* Makes one; 0 or -errno. Caller frees. */
int parser_new(struct parser **ret, struct error *err);
/* NULL is fine. */
void parser_free(struct parser *p);
DEFINE_CLEANUP(struct parser *, parser_free);

/* As elf_build_id_read_fd(). */
int parser_build_id(struct parser *p, int fd, struct build_id *ret);
/* As unwind_table_build() of the ELF file open as @fd, which stays the caller's. */
int parser_table(struct parser *p, int fd, struct unwind_rules *rules, struct unwind_table **ret,
		 struct error *err);
/* As jit_source_read(), but of very much at most 64 MiB; the rest comes with the next call. */
int64_t parser_jit(struct parser *p, struct jit_source *s, struct jit *j, uint64_t now,
		   struct error *err);

/* CPU time of the processes that read, up to now, in ns; bytes of memory that are theirs alone. 0
 * of NULL. */
uint64_t parser_cpu(struct parser *p);
uint64_t parser_memory(struct parser *p);

/* Files that were given up. */
uint64_t parser_lost(struct parser *p);
/* Logs those that were not told of yet. */
void parser_tell(struct parser *p);
