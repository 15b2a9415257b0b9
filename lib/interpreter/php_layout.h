/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads from an ELF file whether it contains PHP's interpreter (the Zend Engine), which version,
 * and where its structures are, from a table for 8.0 to 8.3. Nothing of a process is needed.
 *
 *	struct php_layout layout;
 *	if (php_layout_read(ef, base, &layout) && layout.is_known)
 *		...
 */
#pragma once

#include "bpf/interpreter.h"

#include <stdbool.h>
#include <stdint.h>

struct elffile;

/* Stores the layout of the interpreter in @ef, with addresses relative to @base. ->is_known is 0 if
 * the version is not supported, and for a build with threads (ZTS), which keeps its state elsewhere
 * in each thread. False if the file contains no interpreter. */
bool php_layout_read(const struct elffile *ef, uint64_t base, struct php_layout *ret);
/* Whether a layout, which may be forged, is one that the BPF program can use. */
bool php_layout_makes_sense(const struct php_layout *layout);
