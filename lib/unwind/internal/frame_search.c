/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/internal/frame_search.h"

#include "base/macro.h"
#include "elf/elffile.h"

enum {
	/* A piece of at most this size is searched wherever it is: it takes no longer than asking
	 * the sections. */
	SMALL = 4096,
	/* A file with more sections is searched everywhere, as is one without. */
	SECTIONS_MAX = 256,
};

/* Whether the 4 bytes of code at @at make a frame. The two instructions of x86 follow each other:
 * that they do not in what gcc links into every image (__do_global_dtors_aux) is an advantage,
 * because assembler may be next to it. */
static bool makes_frame(enum unwind_machine machine, const uint8_t *at)
{
	uint32_t code = get_le32(at);

	switch (machine) {
	case UNWIND_AARCH64: /* add x29, sp, #n */
		return (code & 0xff8003ff) == 0x910003fd;
	case UNWIND_I386: /* push %ebp; mov %esp, %ebp, which has two forms */
		return (code & 0xffffff) == 0xe58955 || (code & 0xffffff) == 0xec8b55;
	case UNWIND_X86_64: /* the same; or lea n(%rsp), %rbp */
		return code == 0xe5894855 || code == 0xec8b4855 || code == 0x246c8d48 ||
		       code == 0x24ac8d48;
	case UNWIND_MACHINE_COUNT_:
		break;
	}
	return false;
}

/* Searches all bytes from @from to @to. */
static bool search_bytes(const struct elffile *ef, enum unwind_machine machine, uint64_t from,
			 uint64_t to)
{
	const size_t step = machine == UNWIND_AARCH64 ? 4 : 1;
	struct span file = elffile_whole(ef);
	uint64_t offset, i, bytes;

	if (!elffile_offset(ef, from, &offset) || offset >= file.left)
		return false;
	bytes = MIN(file.left - offset, to - from);
	for (i = 0; i + 4 <= bytes; i += step)
		if (makes_frame(machine, file.at + offset + i))
			return true;
	return false;
}

bool frame_search(const struct elffile *ef, enum unwind_machine machine, uint64_t from, uint64_t to)
{
	const size_t count = elffile_section_count(ef);
	struct elf_section s;
	uint64_t start, end;
	size_t i;

	if (to - from <= SMALL || !count || count > SECTIONS_MAX)
		return search_bytes(ef, machine, from, to);
	for (i = 0; i < count; i++) {
		if (!elffile_section(ef, i, &s) || !(s.header.sh_flags & SHF_EXECINSTR))
			continue;
		start = MAX(from, s.header.sh_addr);
		if (__builtin_add_overflow(s.header.sh_addr, s.header.sh_size, &end))
			end = UINT64_MAX;
		end = MIN(end, to);
		if (start < end && search_bytes(ef, machine, start, end))
			return true;
	}
	return false;
}
