/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "interpreter/interpreter_symbols.h"

#include "base/macro.h"
#include "elf/elf_exports.h"
#include "elf/elffile.h"

#include <stdint.h>
#include <string.h>

struct search {
	const char *const *names;
	size_t count;
	GElf_Sym *found;
};

static void look_at_symbol(const struct search *s, const GElf_Sym *symbol, const char *name)
{
	size_t i;

	if ((!symbol->st_value && GELF_ST_TYPE(symbol->st_info) != STT_TLS) ||
	    symbol->st_shndx == SHN_UNDEF || !name)
		return;
	for (i = 0; i < s->count; i++)
		if (*name == *s->names[i] && !strcmp(name, s->names[i]))
			s->found[i] = *symbol;
}

static void look_at_table(const struct search *s, const struct elffile *ef,
			  const struct elf_section *table)
{
	Elf_Data *data = (Elf_Data *)elffile_data(table);
	GElf_Sym symbol;
	int i;

	for (i = 0; data && i < ELFFILE_SYMBOLS_MAX && gelf_getsym(data, i, &symbol); i++)
		look_at_symbol(s, &symbol,
			       elffile_string(ef, table->header.sh_link, symbol.st_name));
}

bool interpreter_symbols_find(const struct elffile *ef, const char *const *names, size_t count,
			      GElf_Sym *ret)
{
	static const uint32_t types[] = { SHT_DYNSYM, SHT_SYMTAB };
	const struct search s = { names, count, ret };
	struct elf_section section;
	size_t i, k;

	memset(ret, 0, count * sizeof(*ret));
	/* Most files are of no interpreter, and some have a hundred thousand symbols. */
	if (!elf_exports_may_have(ef, names[0]))
		return false;
	for (k = 0; k < ARRAY_SIZE(types); k++) {
		for (i = 0; i < elffile_section_count(ef); i++)
			if (elffile_section(ef, i, &section) && section.header.sh_type == types[k])
				look_at_table(&s, ef, &section);
		if (!ret[0].st_value)
			return false;
	}
	return true;
}
