/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses untrusted files for a privileged program in a sandbox (helper/sandbox.h): a process
 * without privileges, whose answers are checked like the files themselves. If that process dies or
 * takes too long on a file, the file is given up and reported by name.
 *
 *	struct parser *p;
 *	parser_new(&p, err);			before all else
 *	parser_build_id(p, fd, &id);
 *	parser_tell(p);				now and then: logs what went wrong
 *	parser_free(p);
 *
 * With a NULL parser files are parsed in this process, but for functions, which are not read then.
 * parser_table(), parser_functions(), parser_jit() and all other functions may be called by one
 * thread each, at the same time.
 */
#pragma once

#include "base/error.h"
#include "file/build_id.h"
#include "parser/parser_pages.h"

#include <stddef.h>
#include <stdint.h>

struct jit;
struct jit_source;
struct jit_source_state;
struct parser;
struct parser_places;
struct sandbox;
struct unwind_rules;
struct unwind_table;

/* Starts a parser. 0, caller frees; or -errno. */
int parser_new(struct parser **ret, struct error *err);
/* NULL is fine. */
void parser_free(struct parser *p);
DEFINE_CLEANUP(struct parser *, parser_free);

/* As elf_build_id_read_fd(), in the sandbox. */
int parser_build_id(struct parser *p, int fd, struct build_id *ret);
/* As unwind_table_build(), in the sandbox, for the ELF file @fd, which stays the caller's. -EDQUOT
 * if files of the same owner have taken too long lately: try again later. */
int parser_table(struct parser *p, int fd, struct unwind_rules *rules, struct unwind_table **ret,
		 struct error *err);
/* As functions_pack() of elfcode_symbols(), in the sandbox, for the ELF file @fd, which stays the
 * caller's. 0 with *@ret_size bytes, untrusted, in *@ret, which the caller frees; -ENODATA if it
 * has none; -EDQUOT as above. */
int parser_functions(struct parser *p, int fd, void **ret, size_t *ret_size);
/* As jit_source_read(), in the sandbox, but only a portion of some 256 KiB, or one record. Returns
 * the number of bytes read, 0 at the end of what can be read now. */
int64_t parser_jit(struct parser *p, struct jit_source *s, struct jit *j, uint64_t now,
		   struct error *err);

/* Reads @pages to @ret in the sandbox, because another process can make such a read take for ever:
 * of a file, or of the memory of a process (/proc/PID/mem). What is not there is zero. 0 or
 * -errno. */
int parser_pages(struct parser *p, int fd, const struct parser_pages *pages, void *ret);

/* The following are for files that another process opens (identity/opener.h), because opening may
 * hang. It has four lanes of the sandbox to itself: *@ret_lane for tables, the next for all else,
 * then one for JIT code, and one for functions. */
struct sandbox *parser_sandbox(const struct parser *p, unsigned int *ret_lane);
/* Says that this is the process that opens the files. */
void parser_open_for_another(struct parser *p);
/* In that process: has the unwind table of @fd built, which process @tgid has mapped; it stays in
 * *@ret_size bytes of memory that all share. 0 or -errno. */
int parser_table_leave(struct parser *p, int fd, uint32_t tgid, size_t *ret_size);
/* In the process that asked: parser_table() of what was left there. */
int parser_table_take(struct parser *p, size_t size, struct unwind_rules *rules,
		      struct unwind_table **ret);

/* The same in two steps, the first of which may be in another thread: a copy of the *@size bytes
 * left there, which the caller frees, and their table. */
void *parser_table_copy(struct parser *p, size_t *size);
int parser_table_parse(const void *bytes, size_t size, struct unwind_rules *rules,
		       struct unwind_table **ret);

/* The same for parser_functions(). */
int parser_functions_leave(struct parser *p, int fd, uint32_t tgid, size_t *ret_size);
void *parser_functions_copy(struct parser *p, size_t *size);

/* In the process that opens: has the lines and inlined calls read of the functions of @fd that
 * contain the @places. The answer is left for parser_functions_copy(): the number of ranges of code
 * that it is about, and whether time was up before all were read, 32 bits each; the offset of the
 * start and the end of each in the file, 64 bits each; and the result of kept_lines_pack(). Nothing
 * of all this is checked. 0; -ENODATA if the file has no debug
 * information; -EFBIG if it has too much; or as above. */
int parser_lines_leave(struct parser *p, int fd, uint32_t tgid, const struct parser_places *places,
		       size_t *ret_size);

/* In the process that opens: has a portion of @fd read as parser_jit() does, beginning at @from;
 * the answer stays in *@ret_size bytes of memory that all share. 0 or -errno. */
int parser_jit_leave(struct parser *p, int fd, const struct jit_source_state *from, uint64_t now,
		     size_t *ret_size);
/* In the process that asked: a copy of the *@size bytes left there, which the caller frees. */
void *parser_jit_copy(struct parser *p, size_t *size);
/* Applies that answer to the source whose state was @from; returns as parser_jit(). */
int64_t parser_jit_take(struct parser *p, const void *bytes, size_t size, struct jit_source *s,
			struct jit *j, struct error *err);

/* Counts a file that is given up, and has parser_tell() name it with the reason. */
void parser_give_up(struct parser *p, const char *name, const char *why);

/* CPU time of its processes so far, in ns; 0 for NULL. */
uint64_t parser_cpu(struct parser *p);
/* Private memory of its processes, in bytes; 0 for NULL. */
uint64_t parser_memory(struct parser *p);

/* Number of files that were given up. */
uint64_t parser_lost(struct parser *p);
/* Logs those that were not logged yet. */
void parser_tell(struct parser *p);
