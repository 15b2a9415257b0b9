/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line tables of Python's code objects: co_lnotab up to 3.9, co_linetable of PEP 626 in 3.10
 * and of PEP 657 since 3.11. They come from the memory of a process, so they may contain anything.
 *
 *	struct python_lines lines = { 0 };
 *	python_lines_decode(&lines, 0x030b, first_line, span_of(bytes, size));
 *	free(lines.rows);
 */
#pragma once

#include "base/span.h"
#include "interpreter/function_line.h"

#include <stddef.h>
#include <stdint.h>

struct python_lines {
	struct function_line *rows; /* sorted by offset, without two that are equal; caller frees */
	size_t count, room;
	uint32_t end; /* of the bytecode, as far as the table says */
};

/* Adds the rows of the table @in of a function that is defined in line @first, in a @version as
 * struct python_layout has it. Code without a line counts for the line of the definition. Stops at
 * what cannot be right. */
void python_lines_decode(struct python_lines *lines, unsigned int version, uint32_t first,
			 struct span in);
