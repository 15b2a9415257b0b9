/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for code that no symbol names, of stripped files mostly: "[liblzma.so.5+0x1a2b0]", the file
 * and the linked address where the piece begins. A piece reaches from the start of one function to
 * that of the next as far as call frame information tells them, else over the section.
 *
 *	symtab_settle(st);
 *	elfcode_fill(ef, "liblzma.so.5", st);
 */
#pragma once

#include "elf/elffile.h"
#include "symbol/symtab.h"

/* Fills what the settled table leaves of the file's code, placed by file offset; names are held by
 * the table. How many pieces that made. */
size_t elfcode_fill(struct elffile *ef, const char *name, struct symtab *st);
/* Whether the name is such a one. */
bool elfcode_is_name(const char *name);
