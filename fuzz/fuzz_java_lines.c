/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The line tables of Java's methods, after the version and the length of the bytecode. */
#include "fuzz.h"

#include "base/mem.h"
#include "interpreter/java_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span in = span_of(data, size);
	struct java_lines lines = { 0 };
	uint8_t version;
	uint16_t bytes;
	size_t i;

	if (span_u8(&in, &version) < 0 || span_u16(&in, &bytes) < 0)
		return 0;
	if (java_lines_decode(&lines, version, bytes, in) > in.left)
		abort();
	for (i = 0; i < lines.count; i++)
		if (lines.rows[i].offset >= bytes || !lines.rows[i].line ||
		    (i && (lines.rows[i].offset <= lines.rows[i - 1].offset ||
			   lines.rows[i].line == lines.rows[i - 1].line)))
			abort();
	free(lines.rows);
	return 0;
}
