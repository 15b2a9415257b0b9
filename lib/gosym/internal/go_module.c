/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gosym/internal/go_module.h"

#include "base/macro.h"
#include "elf/elffile.h"

/* Offsets in runtime.moduledata of 64-bit programs: of ->text, and of ->gofunc since Go 1.18 and
 * 1.20. */
enum { MODULE_TEXT = 176, MODULE_DATA_1_18 = 304, MODULE_DATA_1_20 = 320 };

/* A pointer in the file. */
struct pointer {
	uint64_t at;	/* its linked address */
	uint64_t value; /* 0: not found */
};

static bool is_relative(const struct elffile *ef, uint64_t info)
{
	uint64_t type = GELF_R_TYPE(info);

	return elffile_header(ef)->e_machine == EM_AARCH64 ? type == R_AARCH64_RELATIVE
							   : type == R_X86_64_RELATIVE;
}

/* Looks the pointers up among the relocations of a section. A pointer whose ->at is 0 is searched
 * by its value instead. */
static void look_up(const struct elffile *ef, const struct elf_section *s, struct pointer *pointers,
		    size_t count)
{
	const Elf_Data *data = elffile_data(s);
	GElf_Rela rela;
	size_t k;
	int i;

	for (i = 0; data && gelf_getrela((Elf_Data *)data, i, &rela); i++) {
		if (!is_relative(ef, rela.r_info))
			continue;
		for (k = 0; k < count; k++) {
			if (pointers[k].at == rela.r_offset)
				pointers[k].value = (uint64_t)rela.r_addend;
			else if (!pointers[k].at && pointers[k].value == (uint64_t)rela.r_addend)
				pointers[k].at = rela.r_offset;
		}
	}
}

static void look_up_all(const struct elffile *ef, struct pointer *pointers, size_t count)
{
	struct elf_section s;
	size_t i;

	for (i = 0; i < elffile_section_count(ef); i++)
		if (elffile_section(ef, i, &s) && s.header.sh_type == SHT_RELA &&
		    s.header.sh_flags & SHF_ALLOC)
			look_up(ef, &s, pointers, count);
}

/* The bytes of the section that contains @address, from there on. */
static struct span bytes_at(const struct elffile *ef, uint64_t address)
{
	struct span in = { NULL, 0 };
	const Elf_Data *data;
	struct elf_section s;
	size_t i;

	for (i = 0; address && i < elffile_section_count(ef); i++) {
		if (!elffile_section(ef, i, &s) || !(s.header.sh_flags & SHF_ALLOC) ||
		    s.header.sh_type == SHT_NOBITS || address < s.header.sh_addr ||
		    address - s.header.sh_addr >= s.header.sh_size)
			continue;
		data = elffile_data(&s);
		in = data ? span_of(data->d_buf, data->d_size) : in;
		if (!span_take(&in, (size_t)(address - s.header.sh_addr)))
			in.left = 0;
		return in;
	}
	return in;
}

/* The address of the word @value in a section of variables, or 0. */
static uint64_t find_word(const struct elffile *ef, const char *section, uint64_t value)
{
	struct elf_section s;
	const Elf_Data *data = elffile_find_section(ef, section, &s) ? elffile_data(&s) : NULL;
	size_t at;

	for (at = 0; data && data->d_buf && at + 8 <= data->d_size; at += 8)
		if (get_le64((const uint8_t *)data->d_buf + at) == value)
			return s.header.sh_addr + at;
	return 0;
}

static uint64_t find_description(const struct elffile *ef, uint64_t table)
{
	static const char *const sections[] = { ".go.module", ".noptrdata", ".data" };
	struct pointer found = { .value = table };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sections) && !found.at; i++)
		found.at = find_word(ef, sections[i], table);
	if (!found.at)
		look_up_all(ef, &found, 1);
	return found.at;
}

struct go_module go_module_find(const struct elffile *ef, uint64_t table)
{
	uint64_t at = table ? find_description(ef, table) : 0;
	struct pointer pointers[] = { { .at = at + MODULE_TEXT },
				      { .at = at + MODULE_DATA_1_18 },
				      { .at = at + MODULE_DATA_1_20 } };
	struct span in;
	size_t i;

	if (!at)
		return (struct go_module){ 0 };
	for (i = 0; i < ARRAY_SIZE(pointers); i++) {
		in = bytes_at(ef, pointers[i].at);
		if (in.left >= 8)
			pointers[i].value = get_le64(in.at);
	}
	look_up_all(ef, pointers, ARRAY_SIZE(pointers));
	return (struct go_module){
		.text = pointers[0].value,
		.data = { bytes_at(ef, pointers[1].value), bytes_at(ef, pointers[2].value) },
	};
}
