/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compressed sections of ELF files (gabi, "Section Compression", and the older .zdebug_*), before
 * they are unpacked: a section says how large it will be, and libelf believes that.
 *
 *	if (elf_packed_fits(ef))
 *		...	elf_compress(scn, 0, 0)
 */
#pragma once

#include <stdbool.h>

struct elffile;

/* Whether each compressed section of the file is within the limits; otherwise warns, naming it. */
bool elf_packed_fits(const struct elffile *ef);
