/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads DWARF data in the file's byte order. A read past the end returns zero and sets ->bad, which
 * stays set, so that a reader may check once, at the end.
 *
 *	struct dwarf_bytes b = dwarf_bytes_at(section, offset, big);
 *	n = dwarf_uleb(&b);
 *	if (b.bad)
 *		...the section is damaged
 */
#pragma once

#include "base/span.h"

#include <stdbool.h>

struct dwarf_bytes {
	struct span in;
	bool big; /* byte order */
	bool bad;
};

/* The bytes of @section from @offset on; bad if it is shorter. */
static inline struct dwarf_bytes dwarf_bytes_at(struct span section, uint64_t offset, bool big)
{
	struct dwarf_bytes b = { .in = section, .big = big };

	b.bad = offset > section.left || !span_take(&b.in, (size_t)offset);
	return b;
}

/* Marks the bytes as bad. */
static inline void dwarf_bytes_fail(struct dwarf_bytes *b)
{
	b->bad = true;
	b->in.left = 0;
}

/* Moves past @size bytes. */
static inline void dwarf_skip(struct dwarf_bytes *b, uint64_t size)
{
	if (size > b->in.left)
		dwarf_bytes_fail(b);
	else
		(void)span_take(&b->in, (size_t)size);
}

/* An unsigned integer of @size bytes: 1 to 4 or 8. */
static inline uint64_t dwarf_uint(struct dwarf_bytes *b, size_t size)
{
	const uint8_t *p = span_take(&b->in, size);

	if (!p) {
		dwarf_bytes_fail(b);
		return 0;
	}
	switch (size) {
	case 1:
		return p[0];
	case 2:
		return b->big ? get_be16(p) : get_le16(p);
	case 3:
		return b->big ? (uint64_t)p[0] << 16 | get_be16(p + 1)
			      : get_le16(p) | (uint64_t)p[2] << 16;
	case 4:
		return b->big ? get_be32(p) : get_le32(p);
	case 8:
		return b->big ? get_be64(p) : get_le64(p);
	default:
		dwarf_bytes_fail(b);
		return 0;
	}
}

/* An unsigned LEB128 number. */
static inline uint64_t dwarf_uleb(struct dwarf_bytes *b)
{
	uint64_t value;

	if (span_uleb(&b->in, &value) == 0)
		return value;
	dwarf_bytes_fail(b);
	return 0;
}

/* A signed LEB128 number. */
static inline int64_t dwarf_sleb(struct dwarf_bytes *b)
{
	int64_t value;

	if (span_sleb(&b->in, &value) == 0)
		return value;
	dwarf_bytes_fail(b);
	return 0;
}

/* A string up to its NUL; NULL if it has no end. */
static inline const char *dwarf_string(struct dwarf_bytes *b)
{
	const char *text = span_string(&b->in);

	if (!text)
		dwarf_bytes_fail(b);
	return text;
}

/* The length at the start of a unit or table; *@offset_size becomes 4 or 8, for 32 or 64 bit
 * DWARF. */
static inline uint64_t dwarf_length(struct dwarf_bytes *b, uint8_t *offset_size)
{
	uint64_t length = dwarf_uint(b, 4);

	*offset_size = length == UINT32_MAX ? 8 : 4;
	return length == UINT32_MAX ? dwarf_uint(b, 8) : length;
}
