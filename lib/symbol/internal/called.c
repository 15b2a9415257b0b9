/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/internal/called.h"

#include "base/macro.h"
#include "elf/elffile.h"

#include <endian.h>
#include <string.h>

/* The ranges to cut, and the end of each as it was. */
struct cutting {
	struct called_range *ranges;
	size_t count;
};

/* The last range that starts at or before @address; ->count if none does. */
static size_t find_range(const struct cutting *c, uint64_t address)
{
	size_t i = FIRST_NOT(k, 0, c->count, c->ranges[k].start <= address);

	return i ? i - 1 : c->count;
}

static void add_call(struct cutting *c, uint64_t from, uint64_t to)
{
	size_t i = find_range(c, to);

	if (i == c->count || to == c->ranges[i].start || to >= c->ranges[i].end)
		return;
	/* A function may call parts of itself. */
	if (find_range(c, from) != i || from >= c->ranges[i].end)
		c->ranges[i].end = to;
}

static uint32_t read_word(const uint8_t *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return le32toh(word);
}

/* Finds "call rel32" at any byte: what looks like one but is part of another instruction has a
 * target that is hardly ever in a range. */
static void scan_x86_64(struct cutting *c, const uint8_t *bytes, size_t size, uint64_t address)
{
	const uint8_t *at = bytes, *last = bytes + size;

	while (last - at >= 5 && (at = memchr(at, 0xe8, (size_t)(last - at) - 4))) {
		uint64_t from = address + (uint64_t)(at - bytes);

		add_call(c, from, from + 5 + (uint64_t)(int64_t)(int32_t)read_word(at + 1));
		at++;
	}
}

/* Finds "bl". */
static void scan_aarch64(struct cutting *c, const uint8_t *bytes, size_t size, uint64_t address)
{
	size_t i;

	for (i = 0; size - i >= 4; i += 4) {
		uint32_t word = read_word(bytes + i);
		int64_t words = (int64_t)(word & 0x3ffffff) - (word & 0x2000000 ? 0x4000000 : 0);

		if (word >> 26 == 0x25)
			add_call(c, address + i, address + i + (uint64_t)(words * 4));
	}
}

static void scan(struct cutting *c, const struct elffile *ef, uint64_t start, uint64_t end)
{
	uint64_t offset;
	const uint8_t *bytes = NULL;

	if (end > start && elffile_offset(ef, start, &offset))
		bytes = elffile_bytes(ef, offset, end - start);
	if (!bytes)
		return;
	if (elffile_header(ef)->e_machine == EM_X86_64)
		scan_x86_64(c, bytes, end - start, start);
	else if (elffile_header(ef)->e_machine == EM_AARCH64)
		scan_aarch64(c, bytes, end - start, start);
}

void called_cut(const struct elffile *ef, struct called_range *ranges, size_t count)
{
	struct cutting c = { .ranges = ranges, .count = count };
	const GElf_Ehdr *header = elffile_header(ef);
	uint64_t start, end;
	size_t i;

	/* The calls of a relocatable file have no targets yet. */
	if (count == 0 || header->e_type == ET_REL || header->e_ident[EI_DATA] != ELFDATA2LSB)
		return;
	for (i = 0; elffile_code_segment(ef, i, &start, &end); i++)
		scan(&c, ef, start, end);
}
