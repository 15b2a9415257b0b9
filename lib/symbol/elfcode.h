/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the code of an ELF file shows of its functions, where symbols do not.
 *
 * It bounds symbols without a size, which would otherwise extend to the next symbol. Such a symbol
 * ends where the call frame information that covers it ends or, if none does, where the next
 * function begins: one that is covered, or that other code calls.
 *
 * Where no function's symbol is, symbols of objects in code name it (elfsym_load_objects()).
 *
 * It makes up names for code without symbols, mostly in stripped files: "[liblzma.so.5+0x1a2b0]",
 * the file and the linked address where a piece starts. Each function that call frame information
 * covers is a piece, other code one per section.
 *
 *	struct elfcode *code = elfcode_new(ef);
 *	elfcode_limit(code, st);
 *	symtab_settle(st);
 *	elfcode_fill(code, "liblzma.so.5", objects, st);
 *	elfcode_free(code);
 */
#pragma once

#include "elf/elffile.h"
#include "symbol/symtab.h"

struct arena;
struct elfcode;

/* Finds the functions of @ef, which is borrowed. Caller frees. */
struct elfcode *elfcode_new(struct elffile *ef);
/* NULL is fine. */
void elfcode_free(struct elfcode *code);
DEFINE_CLEANUP(struct elfcode *, elfcode_free);
/* Limits the symbols without a size in a table that is not settled, whose unit is the file
 * offset. */
void elfcode_limit(struct elfcode *code, struct symtab *st);
/* Fills the gaps that the settled table, whose unit is the file offset, leaves in the file's code:
 * with the symbols in @objects, unless NULL a settled table whose names @st owns, and with pieces.
 * The table owns their names. Returns the number of pieces. */
size_t elfcode_fill(struct elfcode *code, const char *name, const struct symtab *objects,
		    struct symtab *st);
/* The name of the piece at the linked address @address of the file called @file; @names owns it. */
char *elfcode_name(struct arena *names, const char *file, uint64_t address);
/* Whether @name is such a name. */
bool elfcode_is_name(const char *name);

/* Does all of this: makes a settled table of the symbols of @ef and, unless NULL, its debug file
 * @debug, filled with pieces that are named after @name. The table takes both files; caller
 * frees. */
struct symtab *elfcode_symbols(struct elffile *ef, struct elffile *debug, const char *name);
