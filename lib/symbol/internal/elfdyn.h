/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dynamic symbols of a file without section headers, found through its segments as the dynamic
 * loader does. The table points into the file.
 *
 *	struct elfdyn dyn;
 *	GElf_Sym sym;
 *	if (elfdyn_find(ef, &dyn) && gelf_getsym(dyn.symbols, 1, &sym))
 *		puts(elfdyn_name(&dyn, &sym));
 */
#pragma once

#include "base/span.h"

#include <gelf.h>
#include <stdbool.h>

struct elffile;

struct elfdyn {
	Elf_Data *symbols;
	size_t count;
	struct span names; /* ends with a NUL */
};

/* Finds the table; false if there is none or it is damaged. */
bool elfdyn_find(const struct elffile *ef, struct elfdyn *ret);
/* The symbol's name, or "". */
const char *elfdyn_name(const struct elfdyn *dyn, const GElf_Sym *sym);
