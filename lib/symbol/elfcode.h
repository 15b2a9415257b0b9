/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes up names for code without symbols, mostly in stripped files: "[liblzma.so.5+0x1a2b0]", the
 * file and the linked address where a piece starts. Each function that call frame information knows
 * is a piece, other code one per section.
 *
 *	symtab_settle(st);
 *	elfcode_fill(ef, "liblzma.so.5", st);
 */
#pragma once

#include "elf/elffile.h"
#include "symbol/symtab.h"

/* Fills the gaps that the settled table, whose unit is the file offset, leaves in the file's code.
 * The table owns the names. Returns the number of pieces. */
size_t elfcode_fill(struct elffile *ef, const char *name, struct symtab *st);
/* Whether @name is such a name. */
bool elfcode_is_name(const char *name);
