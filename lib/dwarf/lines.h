/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines from DWARF, for Go's code from its own table (gosym/gosym.h), or from what was kept
 * of a file (dwarf/kept_lines.h): the file and line that an address was compiled from, and the
 * inlined calls it belongs to. Only those compilation units are read that are asked for. Damaged
 * debug information yields no line, nothing worse.
 *
 *	struct lines *l = lines_new(ef, debug);
 *	struct lines_place at;
 *	if (lines_find(l, symbol->address, &at))
 *		printf("%s:%u\n", at.file, at.line);
 *	lines_free(l);				before the files are closed
 */
#pragma once

#include "elf/elffile.h"

struct kept_lines;
struct lines;

struct lines_place {
	const char *file;  /* path as compiled, with the compilation's directory in front where it
			    * was relative, without ".."; borrowed until lines_free() */
	unsigned int line; /* from 1 */
};

/* Reads lines from @debug (may be NULL) if it has any, else from @ef. Both files are borrowed. A
 * file without debug information has no lines. Caller frees. */
struct lines *lines_new(const struct elffile *ef, const struct elffile *debug);
/* Looks up lines in @kept, whose contents it takes. Caller frees. */
struct lines *lines_new_kept(struct kept_lines *kept);
/* NULL is fine. */
void lines_free(struct lines *l);
DEFINE_CLEANUP(struct lines *, lines_free);

/* Whether there is any debug information. */
bool lines_exist(const struct lines *l);
/* The line of the code linked at @address; false if none is known. Fast for ascending addresses.
 * One file may be returned as different pointers. */
bool lines_find(struct lines *l, uint64_t address, struct lines_place *ret);

/* The hash of the text of the line that lines_find() finds, if it was kept; 0: it is not known. */
uint32_t lines_kept_text(const struct lines *l, uint64_t address);

/* What lines_new_kept() took; empty if lines are read from a file. Borrowed. */
const struct kept_lines *lines_kept(const struct lines *l);

/* An inlined call: the compiler replaced it by the code of the called function. */
struct lines_call {
	const char *function;  /* called function, by its linkage name if known */
	struct lines_place at; /* the call; ->file may be NULL, ->line 0 */
	uint64_t start;	       /* of its code, according to the debug information */
};

/* The inlined calls that the code at @address belongs to, innermost first. Returns their number,
 * and in *@ret the calls, valid until the next look-up. Fast for ascending addresses. */
size_t lines_inlines(struct lines *l, uint64_t address, const struct lines_call **ret);
/* The line where the function begins whose first code is at @address: where other functions are
 * inlined at once, that of the call, not one of theirs. */
bool lines_start(struct lines *l, uint64_t address, struct lines_place *ret);
