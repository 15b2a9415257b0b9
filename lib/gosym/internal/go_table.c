/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gosym/internal/go_table.h"

#include "base/macro.h"

enum {
	HEADER_BYTES = 8, /* magic, two zeros, quantum, bytes of a pointer */
	NAME_MAX_BYTES = 65536,
	NONE = -1,
};

/* Where fields are in a record, after the entry address. */
struct layout {
	uint32_t magic;
	int8_t at[GO_FIELD_COUNT_];
};

static const struct layout layouts[] = {
	[GO_1_2] = { 0xfffffffb, { 0, 12, 16, 20, 24, NONE, 31, 32 } },
	[GO_1_16] = { 0xfffffffa, { 0, 12, 16, 20, 24, 28, 35, 36 } },
	[GO_1_18] = { 0xfffffff0, { 0, 12, 16, 20, 24, 28, 35, 36 } },
	[GO_1_20] = { 0xfffffff1, { 0, 12, 16, 20, 24, 28, 39, 40 } },
};
static_assert(ARRAY_SIZE(layouts) == GO_VERSION_COUNT_, "one for each");

static uint64_t pointer_at(const struct go_table *t, const uint8_t *at)
{
	return t->pointer == 8 ? get_le64(at) : get_le32(at);
}

/* Bytes of an address in the list of functions, and of an offset there. */
static size_t entry_bytes(const struct go_table *t)
{
	return t->version >= GO_1_18 ? 4 : t->pointer;
}

/* The bytes from @offset on. */
static bool part(const struct go_table *t, uint64_t offset, struct span *ret)
{
	struct span rest = t->all;

	if (offset > rest.left || !span_take(&rest, (size_t)offset))
		return false;
	*ret = rest;
	return true;
}

/* Reads the words of a header since Go 1.16, of which those from @first on are offsets. */
static bool read_parts(struct go_table *t, struct span head, size_t first)
{
	struct span *const parts[] = { &t->names, &t->units, &t->files, &t->ranges, &t->functions };
	const uint8_t *words = span_take(&head, (first + ARRAY_SIZE(parts)) * t->pointer);
	size_t i;

	if (!words)
		return false;
	if (t->version >= GO_1_18)
		t->text = pointer_at(t, words + (size_t)2 * t->pointer);
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (!part(t, pointer_at(t, words + (first + i) * t->pointer), parts[i]))
			return false;
	return true;
}

/* Go 1.2 has no offsets in the header: all are relative to the table. The files follow the list of
 * functions. */
static bool read_parts_1_2(struct go_table *t, struct span head)
{
	struct span list = head;
	uint32_t files;

	if (!span_take(&list, t->pointer) || t->count > list.left / t->pointer / 2)
		return false;
	t->functions = list;
	t->names = t->ranges = t->all;
	return span_take(&list, (t->count * 2 + 1) * t->pointer) && span_u32(&list, &files) == 0 &&
	       part(t, le32toh(files), &t->files);
}

bool go_table_open(struct go_table *t, struct span bytes)
{
	struct span head = bytes;
	const uint8_t *start = span_take(&head, HEADER_BYTES);
	const uint8_t *count = head.at;
	size_t version;
	bool found;

	*t = (struct go_table){ .all = bytes };
	if (!start || start[4] || start[5] || head.left < 8)
		return false;
	for (version = 0; version < ARRAY_SIZE(layouts); version++)
		if (layouts[version].magic == get_le32(start))
			break;
	t->version = (enum go_version)version;
	t->quantum = start[6];
	t->pointer = start[7];
	if (version == ARRAY_SIZE(layouts) || !t->quantum || t->quantum > 4 ||
	    (t->pointer != 4 && t->pointer != 8))
		return false;
	t->count = (size_t)pointer_at(t, count);
	found = version == GO_1_2 ? read_parts_1_2(t, head)
				  : read_parts(t, head, version >= GO_1_18 ? 3 : 2);
	/* After the last function is the address where it ends. */
	return found && t->count && t->functions.left >= entry_bytes(t) &&
	       t->count <= (t->functions.left - entry_bytes(t)) / entry_bytes(t) / 2;
}

uint64_t go_table_address(const struct go_table *t, size_t i)
{
	const uint8_t *at = t->functions.at + i * 2 * entry_bytes(t);

	return t->version >= GO_1_18 ? t->text + get_le32(at) : pointer_at(t, at);
}

bool go_table_ascends(const struct go_table *t)
{
	uint64_t last = go_table_address(t, 0), next;
	size_t i;

	for (i = 1; i <= t->count; i++, last = next) {
		next = go_table_address(t, i);
		if (next <= last)
			return false;
	}
	return true;
}

size_t go_table_record(const struct go_table *t, size_t i)
{
	const uint8_t *at = t->functions.at + (i * 2 + 1) * entry_bytes(t);
	uint64_t offset = t->version >= GO_1_18 ? get_le32(at) : pointer_at(t, at);

	/* Go 1.2 counts from the start of the table. */
	if (t->version == GO_1_2)
		offset -= MIN(offset, (uint64_t)(t->functions.at - t->all.at));
	return (size_t)MIN(offset, (uint64_t)t->functions.left);
}

bool go_table_field(const struct go_table *t, size_t record, enum go_field field, uint32_t *ret)
{
	int8_t at = layouts[t->version].at[field];
	size_t offset = record + entry_bytes(t) + (size_t)(at < 0 ? 0 : at);
	size_t bytes = field == GO_FUNCDATA_COUNT ? 1 : 4;

	if (at < 0 || t->functions.left < bytes || offset > t->functions.left - bytes)
		return false;
	if (field == GO_PCDATA)
		*ret = (uint32_t)offset;
	else
		*ret = bytes == 1 ? t->functions.at[offset] : get_le32(t->functions.at + offset);
	return true;
}

const char *go_table_string(struct span text, uint64_t offset)
{
	if (offset > text.left || !span_take(&text, (size_t)offset))
		return NULL;
	text.left = MIN(text.left, (size_t)NAME_MAX_BYTES);
	return span_string(&text);
}

/* The @i-th number in @words. */
static bool word_at(struct span words, uint64_t i, uint32_t *ret)
{
	if (i >= words.left / 4)
		return false;
	*ret = get_le32(words.at + i * 4);
	return true;
}

const char *go_table_file(const struct go_table *t, size_t record, uint32_t number)
{
	uint32_t unit, offset;

	if (t->version == GO_1_2)
		return word_at(t->files, number, &offset) ? go_table_string(t->all, offset) : NULL;
	if (!go_table_field(t, record, GO_UNIT, &unit) ||
	    !word_at(t->units, (uint64_t)unit + number, &offset) || offset == UINT32_MAX)
		return NULL;
	return go_table_string(t->files, offset);
}
