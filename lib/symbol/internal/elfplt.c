/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PLT entries have no symbols: each jumps through a GOT slot, whose relocation names the function.
 * On x86-64 every kind of PLT (.plt, .plt.sec, .plt.got) holds "jmp *slot(%rip)", bytes ff 25. */
#include "symbol/elfsym.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/span.h"

#include <libelf.h>
#include <string.h>

static void free_names(void *names)
{
	struct map *m = names;

	map_for_each (m, slot)
		free(slot->value);
	map_done(m);
	free(m);
}

static const char *reloc_name(const struct elffile *ef, const struct elf_section *symbols,
			      size_t index)
{
	const Elf_Data *data = elffile_data(symbols);
	GElf_Sym sym;

	if (index == 0 || index > INT32_MAX || !data ||
	    !gelf_getsym((Elf_Data *)data, (int)index, &sym))
		return NULL;
	return elffile_string(ef, symbols->header.sh_link, sym.st_name);
}

/* Notes "name@plt" by the address of every GOT slot that the relocations of @rela fill. */
static void read_slots(const struct elffile *ef, const struct elf_section *rela, struct map *names)
{
	const Elf_Data *data = elffile_data(rela);
	struct elf_section symbols;
	size_t i, n = rela->header.sh_entsize ? rela->header.sh_size / rela->header.sh_entsize : 0;

	if (!data || !elffile_section(ef, rela->header.sh_link, &symbols))
		return;
	for (i = 0; i < MIN(n, (size_t)INT32_MAX); i++) {
		GElf_Rela r;
		const char *name;
		unsigned int type;

		if (!gelf_getrela((Elf_Data *)data, (int)i, &r))
			return;
		type = GELF_R_TYPE(r.r_info);
		if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
			continue;
		name = reloc_name(ef, &symbols, GELF_R_SYM(r.r_info));
		if (name && *name)
			free(map_set(names, r.r_offset, xasprintf("%s@plt", name)));
	}
}

/* Length of an entry in this PLT section. */
static size_t entry_size(const struct elf_section *plt)
{
	size_t size = plt->header.sh_entsize;

	return size >= 8 && size <= 64 ? size : 16;
}

static void name_entries(const struct elffile *ef, const struct elf_section *plt,
			 const struct map *names, struct symtab *st)
{
	const Elf_Data *data = elffile_data(plt);
	size_t size = entry_size(plt), at, i;

	for (at = 0; data && at + size <= data->d_size; at += size) {
		const uint8_t *code = (const uint8_t *)data->d_buf + at;
		struct symbol sym = { .address = plt->header.sh_addr + at,
				      .rank = SYMBOL_SYNTHETIC };

		for (i = 0; i + 6 <= size && !(code[i] == 0xff && code[i + 1] == 0x25); i++)
			;
		if (i + 6 > size || !elffile_offset(ef, sym.address, &sym.offset))
			continue;
		sym.name = map_get(names,
				   sym.address + i + 6 + (uint64_t)(int32_t)get_le32(code + i + 2));
		sym.end = sym.limit = sym.offset + size;
		if (sym.name)
			symtab_add(st, &sym);
	}
}

void elfsym_load_plt(const struct elffile *ef, struct symtab *st)
{
	struct map *names;
	size_t i;

	if (elffile_header(ef)->e_machine != EM_X86_64 || elffile_header(ef)->e_type == ET_REL)
		return;
	names = xcalloc(1, sizeof(*names));
	symtab_hold(st, names, free_names);
	/* Relocations that --emit-relocs keeps fill no slots, and are most of a vmlinux. */
	for (i = 0; i < elffile_section_count(ef); i++) {
		struct elf_section s;

		if (elffile_section(ef, i, &s) && s.header.sh_type == SHT_RELA &&
		    s.header.sh_flags & SHF_ALLOC)
			read_slots(ef, &s, names);
	}
	for (i = 0; i < elffile_section_count(ef); i++) {
		struct elf_section s;

		if (elffile_section(ef, i, &s) && !strncmp(s.name, ".plt", strlen(".plt")))
			name_entries(ef, &s, names, st);
	}
}
