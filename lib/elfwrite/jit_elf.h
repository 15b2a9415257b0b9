/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the code that a process made at run time as an ELF file: a symbol for each piece of code,
 * its bytes if they are known, and its lines as DWARF. The original OProfile's reports can read
 * these files (TGID.jo) too.
 *
 *	struct jit_elf *e = jit_elf_new(jit);
 *	jit_elf_write(e, "samples/current/{anon:anon}/7.jo", err);
 *	jit_elf_free(e);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"

struct jit;
struct jit_elf;

/* The code that @j has now, to be written by any thread, also while @j gets more. What it refers to
 * is @j's, which must exist until then. Caller frees. */
struct jit_elf *jit_elf_new(const struct jit *j);
/* NULL is fine. */
void jit_elf_free(struct jit_elf *e);
DEFINE_CLEANUP(struct jit_elf *, jit_elf_free);

/* Writes a new file and renames it to @path, atomically; 0 or -errno. */
int jit_elf_write(const struct jit_elf *e, const char *path, struct error *err);
