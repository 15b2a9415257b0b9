/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads from an ELF file whether it contains Ruby's interpreter (CRuby), which version, and where
 * its structures are, from a table. Nothing of a process is needed.
 *
 *	struct ruby_layout layout;
 *	if (ruby_layout_read(ef, base, &layout) && layout.is_known)
 *		...
 */
#pragma once

#include "bpf/interpreter.h"

#include <stdbool.h>
#include <stdint.h>

struct elffile;

/* Stores the layout of the interpreter in @ef, with addresses relative to @base. ->is_known is 0 if
 * the version is not supported, or the loop, or where a thread has its state, has no symbol and is
 * not found by the code. False if the file contains no interpreter. */
bool ruby_layout_read(const struct elffile *ef, uint64_t base, struct ruby_layout *ret);
/* Whether a layout, which may be forged, is one that the BPF program can use. */
bool ruby_layout_makes_sense(const struct ruby_layout *layout);
