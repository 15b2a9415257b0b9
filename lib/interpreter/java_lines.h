/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line table of a Java method in the compressed form that HotSpot keeps. It comes from the
 * memory of a process, so it may contain anything.
 *
 *	struct java_lines lines = { 0 };
 *	java_lines_decode(&lines, 17, bytecode_bytes, span_of(bytes, size));
 *	free(lines.rows);
 */
#pragma once

#include "base/span.h"
#include "interpreter/function_line.h"

#include <stddef.h>
#include <stdint.h>

struct java_lines {
	struct function_line *rows; /* sorted by offset in the bytecode; caller frees */
	size_t count, room;
};

/* Adds the rows of a method with @code_bytes of bytecode. What follows the table in @in is ignored,
 * and so is all from the first number on that makes no sense. Returns the bytes of the table. */
size_t java_lines_decode(struct java_lines *lines, uint16_t version, uint32_t code_bytes,
			 struct span in);
