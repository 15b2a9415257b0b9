/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/internal/section_count.h"

#include "base/span.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* Reads @size bytes at @offset; returns whether all are there. */
static bool read_at(int fd, uint64_t offset, void *to, size_t size)
{
	return offset <= INT64_MAX && pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

static uint64_t number(const uint8_t *at, size_t size, bool big)
{
	switch (size) {
	case 2:
		return big ? get_be16(at) : get_le16(at);
	case 4:
		return big ? get_be32(at) : get_le32(at);
	default:
		return big ? get_be64(at) : get_le64(at);
	}
}

/* The member of an ELF header or section header, whose size and place depend on the class. */
#define MEMBER(head, type, member)                                                                 \
	(wide ? number((head) + offsetof(Elf64_##type, member),                                    \
		       sizeof(((Elf64_##type *)0)->member), big)                                   \
	      : number((head) + offsetof(Elf32_##type, member),                                    \
		       sizeof(((Elf32_##type *)0)->member), big))

uint64_t section_count(int fd)
{
	uint8_t head[sizeof(Elf64_Ehdr)] = { 0 }, first[sizeof(Elf64_Shdr)] = { 0 };
	bool wide, big;
	uint64_t count, table;

	if (!read_at(fd, 0, head, sizeof(Elf32_Ehdr)) || memcmp(head, ELFMAG, SELFMAG) != 0)
		return 0;
	wide = head[EI_CLASS] == ELFCLASS64;
	big = head[EI_DATA] == ELFDATA2MSB;
	if (wide && !read_at(fd, 0, head, sizeof(head)))
		return 0;
	count = MEMBER(head, Ehdr, e_shnum);
	table = MEMBER(head, Ehdr, e_shoff);
	if (count || !table)
		return count;
	/* Too many for their place: the number is in the first section. */
	return read_at(fd, table, first, wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr))
		       ? MEMBER(first, Shdr, sh_size)
		       : 0;
}
