/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Symbols out of ELF files: functions of .symtab and .dynsym (which is left out where .symtab has
 * all of it), those of a separate debug file, and names for PLT entries ("memcpy@plt"). Only
 * symbols of code count.
 *
 *	struct symtab *st = symtab_new();
 *	elfsym_load(ef, debug, ELFSYM_FILE_OFFSET, st);
 *	symtab_hold(st, ef, elfsym_release);		names lie in the file
 *	symtab_settle(st);
 */
#pragma once

#include "elf/elffile.h"
#include "symbol/symtab.h"

enum elfsym_unit {
	ELFSYM_FILE_OFFSET, /* symbols are placed by file offset, as samples of files are */
	ELFSYM_FROM_TEXT    /* by distance from _text (else _stext, else the start of .text), as the
			     * samples of a kernel are */
};

/* Adds the symbols of @ef, and of @debug where it is not NULL, to @st. Names are borrowed from the
 * files. Returns the number added: 0 means that the file is stripped to the bone. */
size_t elfsym_load(const struct elffile *ef, const struct elffile *debug, enum elfsym_unit unit,
		   struct symtab *st);
/* Adds the symbols of @ef placed by distance from the address @start, those below it left out: code
 * of an anonymous region, whose samples count from the start of the region. As elfsym_load(). */
size_t elfsym_load_region(const struct elffile *ef, uint64_t start, struct symtab *st);
/* Adds a name for every PLT entry of @ef that an own symbol does not name; the names are held by
 * @st. Known for x86-64 only; elsewhere adds nothing. */
void elfsym_load_plt(const struct elffile *ef, struct symtab *st);
/* elffile_close() in the form that symtab_hold() takes. */
void elfsym_release(void *ef);
