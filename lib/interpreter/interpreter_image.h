/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads from an ELF file whether it contains an interpreter that the BPF program can walk, of which
 * language, and where its structures are. Each language has a row in a table. Nothing of a process
 * is needed.
 *
 *	struct interpreter found;
 *	if (interpreter_image_read(ef, base, &found))
 *		...
 */
#pragma once

#include "bpf/interpreter.h"

#include <stdbool.h>
#include <stdint.h>

struct elffile;

/* Stores what is known of the interpreter in @ef, with addresses relative to @base. ->is_known is 0
 * if its version is not supported. False if the file contains no interpreter: ->kind is then
 * INTERPRETER_NONE. */
bool interpreter_image_read(const struct elffile *ef, uint64_t base, struct interpreter *ret);
/* Whether the description of an interpreter, which may be forged, is one that the BPF program can
 * use. */
bool interpreter_image_makes_sense(const struct interpreter *i);
