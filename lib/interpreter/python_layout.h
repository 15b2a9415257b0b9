/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads from an ELF file whether it contains a Python interpreter (CPython), which version, and
 * where its structures are: from a table for 3.8 to 3.12, from the file's own description of itself
 * (_Py_DebugOffsets) for later ones. Nothing of a process is needed.
 *
 *	struct python_layout layout;
 *	if (python_layout_read(ef, base, &layout))
 *		...
 */
#pragma once

#include "bpf/interpreter.h"

#include <stdbool.h>
#include <stdint.h>

struct elffile;

/* Stores the layout of the interpreter in @ef, with addresses relative to @base. ->entry is
 * PYTHON_ENTRY_NONE if the version is not supported. False if the file contains no interpreter. */
bool python_layout_read(const struct elffile *ef, uint64_t base, struct python_layout *ret);
/* Whether a layout, which may be forged, is one that the BPF program can use. */
bool python_layout_makes_sense(const struct python_layout *layout);
