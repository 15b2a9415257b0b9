/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the symbols of code in ELF files: from .symtab and .dynsym (unless .symtab contains all of
 * it), from a separate debug file, and names for PLT entries ("memcpy@plt").
 *
 *	struct symtab *st = symtab_new();
 *	elfsym_load(ef, debug, ELFSYM_FILE_OFFSET, st);
 *	symtab_hold(st, ef, elfsym_release);		names point into the file
 *	symtab_settle(st);
 */
#pragma once

#include "elf/elffile.h"
#include "symbol/symtab.h"

enum elfsym_unit {
	ELFSYM_FILE_OFFSET, /* offsets in the file, as in samples of files */
	ELFSYM_FROM_TEXT /* offsets from _text (else _stext, else the start of .text), as in samples
			     * of a kernel */
};

/* The address in the kernel @ef from which ELFSYM_FROM_TEXT counts; 0 if that is not known. */
uint64_t elfsym_text_start(const struct elffile *ef);
/* Adds the symbols of @ef, and of @debug if it is not NULL, to @st. Names are borrowed from the
 * files. Returns the number added; 0 if the file has none at all. */
size_t elfsym_load(const struct elffile *ef, const struct elffile *debug, enum elfsym_unit unit,
		   struct symtab *st);
/* The same in the unit ELFSYM_FILE_OFFSET for the symbols with a size that are in code but said to
 * be objects: GHC makes such symbols, for functions that have data before their first
 * instruction. */
size_t elfsym_load_objects(const struct elffile *ef, const struct elffile *debug,
			   struct symtab *st);
/* As elfsym_load() for code in an anonymous memory region, whose samples have offsets from its
 * start: adds the symbols of @ef from the address @start on, relative to it. */
size_t elfsym_load_region(const struct elffile *ef, uint64_t start, struct symtab *st);
/* Adds a name for every PLT entry of @ef that has no symbol; @st owns the names. Only on x86-64. */
void elfsym_load_plt(const struct elffile *ef, struct symtab *st);
/* elffile_close() as a function for symtab_hold(). */
void elfsym_release(void *ef);
