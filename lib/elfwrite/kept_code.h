/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The section of a written ELF file from which its writer can go on: all pieces of code that have a
 * key, with their lines, which are in one source file. In host byte order, by place:
 *
 *	u64 place  u64 size  u64 key  u32 lines  u32 length of names  name NUL  file NUL
 *	lines times: u32 offset  u32 line
 */
#pragma once

#include "base/span.h"
#include "base/strbuf.h"

#include <stdbool.h>

struct jit_code;

#define KEPT_CODE_SECTION ".oprofile.code"

/* Appends @code, unless it has no key. */
void kept_code_put(struct strbuf *to, const struct jit_code *code);
/* Passes each piece of a section, whose bytes may be damaged, to @each, which returns false to end.
 * Its address is its place. All is borrowed for the call. Returns 0, or -EBADMSG at damage. */
int kept_code_read(struct span in, bool (*each)(const struct jit_code *code, void *data),
		   void *data);
