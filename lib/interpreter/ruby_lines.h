/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line table of a Ruby function, as the BPF program sends it: the index that Ruby has of the
 * table (succ_index_table), and its entries. It comes from the memory of a process, so it may
 * contain anything.
 *
 *	struct ruby_lines lines = { 0 };
 *	ruby_lines_decode(&lines, words, first_line, span_of(bytes, size));
 *	free(lines.rows);
 */
#pragma once

#include "base/span.h"
#include "interpreter/function_line.h"

#include <stddef.h>
#include <stdint.h>

struct ruby_lines {
	struct function_line *rows; /* sorted by offset, in words; caller frees */
	size_t count, room;
};

/* Adds the rows of a function with @words words of instructions, of which the definition is in line
 * @first, from @in: RUBY_INDEX_BYTES, then entries. What has no entry counts for @first. */
void ruby_lines_decode(struct ruby_lines *lines, uint32_t words, uint32_t first, struct span in);
