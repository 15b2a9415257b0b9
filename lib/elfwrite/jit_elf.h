/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the code of a process as an ELF file: a symbol for each piece of code at its place, the
 * code itself where it is known, and its lines as DWARF. The original's reports read such files
 * (TGID.jo) too.
 *
 *	jit_elf_write(jit, "samples/current/{anon:anon}/7.jo", &err);
 */
#pragma once

#include "base/error.h"

struct jit;

/* Writes a new file and puts it in the place of @path in one step; 0 or -errno. */
int jit_elf_write(const struct jit *j, const char *path, struct error *err);
