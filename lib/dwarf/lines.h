/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines out of DWARF: which file and line an address was compiled from. Only the line tables
 * of the compilation units that are asked for are read. Damaged debug information gives no line,
 * never more.
 *
 *	struct lines *l = lines_new(ef, debug);
 *	struct lines_place at;
 *	if (lines_find(l, symbol->address, &at))
 *		printf("%s:%u\n", at.file, at.line);
 *	lines_free(l);				before the files are closed
 */
#pragma once

#include "elf/elffile.h"

struct lines;

struct lines_place {
	const char *file;  /* path as compiled, with the compilation's directory in front where it
			    * was relative; borrowed until lines_free() */
	unsigned int line; /* from 1 */
};

/* The lines of @ef, from @debug (may be NULL) if that has them. Both files are borrowed. A file
 * without debug information has none. Caller frees. */
struct lines *lines_new(const struct elffile *ef, const struct elffile *debug);
void lines_free(struct lines *l);
DEFINE_CLEANUP(struct lines *, lines_free);

/* Whether there is any debug information. */
bool lines_exist(const struct lines *l);
/* The line of the code that is linked to @address; false where none is known. Fast where one asks
 * in the order of addresses. The same file may have several pointers. */
bool lines_find(struct lines *l, uint64_t address, struct lines_place *ret);

/* A call that the compiler put the called function's code in place of. */
struct lines_call {
	const char *function;  /* that was called, as linked where that is known */
	struct lines_place at; /* the call; ->file may be NULL, ->line 0 */
	uint64_t start;	       /* of its code, as the debug information has it */
};

/* The inlined calls that the code at @address is of, the innermost first: their number and, until
 * the next question, themselves. Fast where one asks in the order of addresses. */
size_t lines_inlines(struct lines *l, uint64_t address, const struct lines_call **ret);
