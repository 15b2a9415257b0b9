/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens the files of others for a process that must never wait for them. A FUSE or network file
 * system whose server does not answer holds whoever opens, reads, closes or only looks at a file,
 * in a state in which even SIGKILL does not end it.
 *
 * So a process of its own, which may be abandoned (helper/sandbox.h), does what identity/ does with
 * files: it finds them, compares, and passes the open file to a parser, another process, which
 * reads it. No open file comes back, because closing may hang, too. An opener has four lanes, each
 * for one thread: opener_table*() with opener_code() and opener_copied(), opener_jit_*(),
 * opener_version() with opener_functions() and opener_lines(), and all else. Answers that are late
 * do not come: a process that has been asleep for two seconds is replaced, and the user whose file
 * it was is not asked about for a minute, longer the next time (of root only the device is left
 * out).
 *
 *	opener_new(parser, &o, err);		before there are secrets and threads
 *	opener_identify(o, image, &where);	in a thread that may wait: identity/finder.h
 *	opener_free(o);				before the parser
 *
 * The image's ->path and where->root are as for cookie_identify_file(); where->root must be "" or
 * NULL.
 */
#pragma once

#include "base/error.h"
#include "identity/cookie_image.h"
#include "jit/jit_source.h"

struct function_table;
struct opener;
struct jit_files_query;
struct parser;
struct parser_places;
struct text_copy;
struct unwind_rules;
struct unwind_table;

/* Makes an opener whose files @parser reads. 0, caller frees; or -errno. */
int opener_new(struct parser *parser, struct opener **ret, struct error *err);
/* Lets all that is asked fail at once from now on, in other threads, too. NULL is fine. */
void opener_stop(struct opener *o);
/* NULL is fine. */
void opener_free(struct opener *o);
DEFINE_CLEANUP(struct opener *, opener_free);

/* As cookie_identify_file(); 0, or -errno if there was no answer. */
int opener_identify(struct opener *o, struct cookie_image *image,
		    const struct cookie_mapped *where);
/* As cookie_file_changed(); then @image is identified again. */
bool opener_changed(struct opener *o, struct cookie_image *image,
		    const struct cookie_mapped *where);
/* As text_copy_find(); also -ESRCH if there was no answer. */
int opener_text_copy(struct opener *o, const struct cookie_image *memory,
		     const struct cookie_mapped *where, struct text_copy *ret);
/* Builds the unwind table of @image, as parser_table(); -ENOENT if no path leads to the file. */
int opener_table(struct opener *o, const struct cookie_image *image,
		 const struct cookie_mapped *where, struct unwind_rules *rules,
		 struct unwind_table **ret);
/* The same, but only the answer for parser_table_parse(), which the caller frees. */
int opener_table_bytes(struct opener *o, const struct cookie_image *image,
		       const struct cookie_mapped *where, void **ret, size_t *ret_size);
/* Reads the page of the memory of process @where->tgid at @where->start to @ret, of
 * PARSER_PAGE_BYTES. 0, or -errno. In the lane of tables. */
int opener_code(struct opener *o, const struct cookie_mapped *where, uint8_t *ret);

/* As opener_text_copy() for the memory at @where, in the lane of tables. Passes an address where
 * the process has the file mapped, and the offset in the file of the memory's start. 0; -ENOENT if
 * it is no copy; or -errno if there was no answer. */
int opener_copied(struct opener *o, const struct cookie_mapped *where, uint64_t *ret_part,
		  uint64_t *ret_offset);

/* As opener_identify(), for the thread that calls opener_functions(). */
int opener_version(struct opener *o, struct cookie_image *image, const struct cookie_mapped *where);
/* Has the functions of @image read, as parser_functions(), which then are *@ret; the caller frees
 * *@ret_bytes. -ENOENT if no path leads to the file. */
int opener_functions(struct opener *o, const struct cookie_image *image,
		     const struct cookie_mapped *where, struct function_table *ret,
		     void **ret_bytes);

/* Has the lines of the functions of @image at @places read; *@ret gets the answer of
 * parser_lines_leave(). As opener_functions(). */
int opener_lines(struct opener *o, const struct cookie_image *image,
		 const struct cookie_mapped *where, const struct parser_places *places,
		 struct function_table *ret);

/* As jit_files_open_root() on this machine. */
int opener_jit_root(struct opener *o, const struct jit_files_query *query);
/* As jit_files_find() on this machine; @root stays the caller's. */
int opener_jit_find(struct opener *o, int root, const struct jit_files_query *query, char **ret);

/* A source of JIT code that was found, and where to go on reading it; borrowed. */
struct opener_jit {
	int fd;		  /* with O_PATH */
	const char *name; /* for messages */
	uint32_t tgid, owner;
	struct jit_source_state state;
	uint64_t now;
};

/* Has a portion of a source read. 0 with the answer for parser_jit_take() in *@ret, which the
 * caller frees; or -errno. */
int opener_jit_read(struct opener *o, const struct opener_jit *from, void **ret, size_t *ret_size);
