/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the code that a process made at run time as an ELF file: a symbol for each piece of code,
 * its bytes if they are known, and its lines as DWARF. The original OProfile's reports can read
 * these files (TGID.jo) too.
 *
 *	jit_elf_write(jit, "samples/current/{anon:anon}/7.jo", err);
 */
#pragma once

#include "base/error.h"

struct jit;

/* Writes a new file and renames it to @path, atomically; 0 or -errno. */
int jit_elf_write(const struct jit *j, const char *path, struct error *err);
