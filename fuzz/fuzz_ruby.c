/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line tables of Ruby's functions, after a word with the length of the instructions. What is
 * read of interpreters is part of building an unwind table (fuzz_unwind.c). */
#include "fuzz.h"

#include "base/mem.h"
#include "interpreter/ruby_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span in = span_of(data, size);
	struct ruby_lines lines = { 0 };
	uint32_t words;
	size_t i;

	if (span_u32(&in, &words) < 0)
		return 0;
	ruby_lines_decode(&lines, words, 100, in);
	for (i = 1; i < lines.count; i++)
		if (lines.rows[i].offset <= lines.rows[i - 1].offset ||
		    lines.rows[i].line == lines.rows[i - 1].line)
			abort();
	if (!lines.count || lines.rows[0].offset)
		abort();
	free(lines.rows);
	return 0;
}
