/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line tables of Python's code objects; the first byte says of which version. What is read of
 * interpreters is part of building an unwind table (fuzz_unwind.c). */
#include "fuzz.h"

#include "base/mem.h"
#include "interpreter/python_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct python_lines lines = { 0 };
	size_t i;

	if (!size)
		return 0;
	python_lines_decode(&lines, 0x0308u + *data % 8, 100, span_of(data + 1, size - 1));
	for (i = 1; i < lines.count; i++)
		if (lines.rows[i].offset <= lines.rows[i - 1].offset ||
		    lines.rows[i].line == lines.rows[i - 1].line)
			abort();
	free(lines.rows);
	return 0;
}
