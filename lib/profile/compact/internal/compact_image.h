/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reduces an image to the parts that a profile uses: the symbols that samples are in with their
 * code, the names that this code refers to, and the lines it came from; written as an ELF file (see
 * elfwrite/elf_subset.h).
 *
 *	if (compact_image(&binary, &used, false, &bytes, &size, err) == 0)
 *		...
 *	free(bytes);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct binary;
struct used_offsets;

/* @b has a file and may have no symbols; @is_kernel: @u is relative to the start of the kernel's
 * text, and the addresses of symbols that the code refers to are added to it. 0 with the bytes,
 * which the caller frees, or -errno. */
int compact_image(const struct binary *b, struct used_offsets *u, bool is_kernel, void **ret,
		  size_t *ret_size, struct error *err);
