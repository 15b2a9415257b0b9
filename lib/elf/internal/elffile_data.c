/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What libelf may need memory for, which it reports as if the file were damaged. */
#include "elf/elffile.h"

#include "base/mem.h"

#include <libelf.h>
#include <string.h>

void elffile_check_memory(void)
{
	int code = elf_errno();
	const char *text = code ? elf_errmsg(code) : NULL;

	/* The codes are libelf's own, their texts are not. */
	if (text && !strcmp(text, "out of memory"))
		mem_exhausted();
}

const char *elffile_string(const struct elffile *ef, size_t table, size_t offset)
{
	const char *text = elf_strptr(elffile_elf(ef), table, offset);

	if (!text)
		elffile_check_memory();
	return text;
}

const Elf_Data *elffile_data(const struct elf_section *section)
{
	const Elf_Data *data;

	if (section->header.sh_type == SHT_NOBITS || section->header.sh_size == 0)
		return NULL;
	data = elf_getdata(section->scn, NULL);
	if (!data)
		elffile_check_memory();
	return data && data->d_buf && data->d_size ? data : NULL;
}

Elf_Data *elffile_chunk(const struct elffile *ef, uint64_t offset, uint64_t size, Elf_Type type)
{
	Elf_Data *data = elf_getdata_rawchunk(elffile_elf(ef), (int64_t)offset, size, type);

	if (!data)
		elffile_check_memory();
	return data && data->d_buf ? data : NULL;
}

struct span elffile_whole(const struct elffile *ef)
{
	size_t size = 0;
	const char *bytes = elf_rawfile(elffile_elf(ef), &size);

	if (!bytes)
		elffile_check_memory();
	return span_of(bytes ? bytes : "", bytes ? size : 0);
}
