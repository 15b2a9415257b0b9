/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "interpreter/java_lines.h"

#include "base/macro.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
	END = 0,
	ESCAPE = 0xff, /* two numbers follow */
	LINE_BITS = 3, /* else the lower bits are added to the line, the others to the offset */
	NUMBER_BYTES = 5,
	NUMBER_BITS = 6,  /* that each further byte adds */
	NUMBER_HIGH = 64, /* the number of values of a byte after which another one follows */
	NO_ZEROS = 20,	  /* since this version, numbers contain no byte 0 */
	LINE_MAX = 65535,
};

/* Reads a number: each byte is a digit, the lowest first, and the last one is low (JDK:
 * src/hotspot/share/utilities/unsigned5.hpp). Its lowest bit is the sign. */
static bool read_number(struct span *in, uint32_t excluded, int64_t *ret)
{
	uint32_t sum = 0, i;
	uint8_t byte;

	for (i = 0; i < NUMBER_BYTES; i++) {
		if (span_u8(in, &byte) < 0 || byte < excluded)
			return false;
		sum += (byte - excluded) << (i * NUMBER_BITS);
		if (byte < 256 - NUMBER_HIGH)
			break;
	}
	*ret = sum & 1 ? -(int64_t)(sum >> 1) - 1 : (int64_t)(sum >> 1);
	return true;
}

/* Reads the distance to the next row. Returns false at the end. */
static bool read_step(struct span *in, uint32_t excluded, int64_t *offset, int64_t *line)
{
	uint8_t byte;

	if (span_u8(in, &byte) < 0 || byte == END)
		return false;
	*offset = byte >> LINE_BITS;
	*line = byte & ((1 << LINE_BITS) - 1);
	return byte != ESCAPE ||
	       (read_number(in, excluded, offset) && read_number(in, excluded, line));
}

static int by_offset(const void *a, const void *b)
{
	const struct function_line *left = a, *right = b;

	if (left->offset != right->offset)
		return (left->offset > right->offset) - (left->offset < right->offset);
	return (left->line > right->line) - (left->line < right->line);
}

/* Keeps one row for each offset and, in sequence, for each line. */
static void make_unique(struct java_lines *l)
{
	size_t i, n = 0;

	for (i = 0; i < l->count; i++) {
		if (n && l->rows[n - 1].offset == l->rows[i].offset)
			n--;
		if (!n || l->rows[n - 1].line != l->rows[i].line)
			l->rows[n++] = l->rows[i];
	}
	l->count = n;
}

size_t java_lines_decode(struct java_lines *lines, uint16_t version, uint32_t code_bytes,
			 struct span in)
{
	const uint32_t excluded = version >= NO_ZEROS;
	const size_t bytes = in.left;
	int64_t offset = 0, line = 0, to_offset, to_line;

	while (read_step(&in, excluded, &to_offset, &to_line)) {
		offset += to_offset;
		line += to_line;
		if (offset < 0 || offset >= code_bytes || line <= 0 || line > LINE_MAX)
			break;
		array_grow(&lines->rows, lines->count + 1, &lines->room);
		lines->rows[lines->count++] =
			(struct function_line){ (uint32_t)offset, (uint32_t)line };
	}
	if (lines->count)
		qsort(lines->rows, lines->count, sizeof(*lines->rows), by_offset);
	make_unique(lines);
	return bytes - in.left;
}
