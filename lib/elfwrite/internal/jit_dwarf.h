/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of code made at run time as DWARF 4 (sections 6.1.2, 6.2 and 7.5 of the standard): a
 * compilation unit with its line program and its entry in the address table.
 */
#pragma once

#include "base/strbuf.h"

#include <stddef.h>

struct jit_code;

struct jit_dwarf {
	struct strbuf info, abbrev, line, aranges; /* contents of .debug_NAME */
};

/* Adds a unit for the @n pieces of code, sorted by place; those without lines are left out, and no
 * unit is made where none has any. */
void jit_dwarf_add(struct jit_dwarf *d, const struct jit_code *const *codes, size_t n);
/* Frees what it holds. */
void jit_dwarf_done(struct jit_dwarf *d);
