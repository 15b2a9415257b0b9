/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks the hash table of an ELF file's dynamic symbols for a name. That takes a look at two pages,
 * where reading the symbols of a large library takes milliseconds.
 *
 *	if (!elf_exports_may_have(ef, "exit"))
 *		return;
 *	...		reads the symbols
 */
#pragma once

#include <stdbool.h>

struct elffile;

/* Whether the file may define the dynamic symbol @name. False if its hash table (DT_GNU_HASH) says
 * that it does not; true if it has no such table, or the table is damaged. */
bool elf_exports_may_have(const struct elffile *ef, const char *name);
/* Whether the dynamic loader loads other libraries for the file. */
bool elf_exports_needs_others(const struct elffile *ef);
