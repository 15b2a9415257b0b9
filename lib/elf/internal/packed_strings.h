/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compressed tables of strings. Nobody writes them, but newer libelf unpacks them at the first
 * string, and believes the size that they claim.
 *
 *	r = packed_strings_check(elf, path, err);
 */
#pragma once

#include "base/error.h"

#include <libelf.h>

/* Returns 0, or -EBADMSG if a table of the file called @path claims to be larger than compression
 * can explain. Unpacks nothing. */
int packed_strings_check(Elf *elf, const char *path, struct error *err);
