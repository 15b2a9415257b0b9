/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "interpreter/python_lines.h"

#include "base/mem.h"

enum { UNIT_BYTES = 2, OFFSET_MAX = 1 << 28 };

/* The kind of an entry since 3.11: the bits 3 to 6 of its first byte. */
enum { KIND_ONE_LINE = 10, KIND_NO_COLUMNS = 13, KIND_LONG = 14, KIND_NONE = 15 };

static void add(struct python_lines *l, int64_t line, uint32_t first)
{
	uint32_t valid = line > 0 && line <= INT32_MAX ? (uint32_t)line : first;

	if (l->count && l->rows[l->count - 1].line == valid)
		return;
	/* A row without bytes goes away, and what follows it may go on with the row before. */
	if (l->count && l->rows[l->count - 1].offset == l->end) {
		if (l->count > 1 && l->rows[l->count - 2].line == valid)
			l->count--;
		else
			l->rows[l->count - 1].line = valid;
		return;
	}
	array_grow(&l->rows, l->count + 1, &l->room);
	l->rows[l->count++] = (struct function_line){ l->end, valid };
}

/* Pairs: bytes up to the next row, and by how many lines that is further. */
static void decode_lnotab(struct python_lines *l, uint32_t first, struct span in)
{
	int64_t line = first;
	uint8_t bytes, step;

	add(l, line, first);
	while (l->end < OFFSET_MAX && span_u8(&in, &bytes) == 0 && span_u8(&in, &step) == 0) {
		l->end += bytes;
		line += (int8_t)step;
		add(l, line, first);
	}
}

/* Pairs: length of a row, and by how many lines it is further than the last. */
static void decode_3_10(struct python_lines *l, uint32_t first, struct span in)
{
	int64_t line = first;
	uint8_t bytes, step;

	while (l->end < OFFSET_MAX && span_u8(&in, &bytes) == 0 && span_u8(&in, &step) == 0) {
		if (step != 0x80)
			line += (int8_t)step;
		if (bytes)
			add(l, step == 0x80 ? 0 : line, first);
		l->end += bytes;
	}
}

/* A number in groups of six bits, the lowest first. */
static int take_number(struct span *in, uint32_t *ret)
{
	unsigned int shift = 0;
	uint8_t byte;

	*ret = 0;
	do {
		if (span_u8(in, &byte) < 0 || shift > 24)
			return -EBADMSG;
		*ret |= (uint32_t)(byte & 0x3f) << shift;
		shift += 6;
	} while (byte & 0x40);
	return 0;
}

/* The same with its sign in the lowest bit. */
static int take_step(struct span *in, int64_t *line)
{
	uint32_t number;

	if (take_number(in, &number) < 0)
		return -EBADMSG;
	*line += number & 1 ? -(int64_t)(number >> 1) : (int64_t)(number >> 1);
	return 0;
}

/* Reads an entry after its first byte, up to the next one, and moves *@line. */
static int take_entry(struct span *in, unsigned int kind, int64_t *line)
{
	uint32_t unused;
	int i;

	if (kind == KIND_NONE)
		return 0;
	if (kind == KIND_NO_COLUMNS)
		return take_step(in, line);
	if (kind == KIND_LONG) {
		if (take_step(in, line) < 0)
			return -EBADMSG;
		for (i = 0; i < 3; i++)
			if (take_number(in, &unused) < 0)
				return -EBADMSG;
		return 0;
	}
	if (kind >= KIND_ONE_LINE)
		*line += kind - KIND_ONE_LINE;
	return span_take(in, kind >= KIND_ONE_LINE ? 2 : 1) ? 0 : -EBADMSG;
}

static void decode_3_11(struct python_lines *l, uint32_t first, struct span in)
{
	int64_t line = first;
	uint8_t head;

	while (l->end < OFFSET_MAX && span_u8(&in, &head) == 0) {
		unsigned int kind = head >> 3 & 15;

		if (!(head & 0x80) || take_entry(&in, kind, &line) < 0)
			return;
		add(l, kind == KIND_NONE ? 0 : line, first);
		l->end += ((head & 7) + 1u) * UNIT_BYTES;
	}
}

void python_lines_decode(struct python_lines *lines, unsigned int version, uint32_t first,
			 struct span in)
{
	if (version < 0x030a)
		decode_lnotab(lines, first, in);
	else if (version == 0x030a)
		decode_3_10(lines, first, in);
	else
		decode_3_11(lines, first, in);
}
