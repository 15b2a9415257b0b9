/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/probe_place.h"

#include "base/macro.h"

#include <string.h>

/* Of a note that describes a mark. */
enum { MARK_NOTE = 3 };

static void visit_symbols(const struct elffile *ef, const struct elf_section *table,
			  probe_place_visitor *each, void *data)
{
	Elf_Data *symbols = (Elf_Data *)elffile_data(table);
	int i, n = ELFFILE_SYMBOLS_MAX;
	GElf_Sym sym;

	for (i = 0; symbols && i < n && gelf_getsym(symbols, i, &sym); i++) {
		unsigned int type = GELF_ST_TYPE(sym.st_info);
		struct probe_place place = { .is_resolver = type == STT_GNU_IFUNC };

		if ((type != STT_FUNC && !place.is_resolver) || sym.st_shndx == SHN_UNDEF)
			continue;
		place.name = elffile_string(ef, table->header.sh_link, sym.st_name);
		if (place.name && *place.name && elffile_offset(ef, sym.st_value, &place.offset))
			each(&place, data);
	}
}

void probe_place_functions(const struct elffile *ef, probe_place_visitor *each, void *data)
{
	size_t i, n = elffile_section_count(ef);
	struct elf_section table;

	for (i = 0; i < n; i++)
		if (elffile_section(ef, i, &table) &&
		    (table.header.sh_type == SHT_SYMTAB || table.header.sh_type == SHT_DYNSYM))
			visit_symbols(ef, &table, each, data);
}

/* Reads an address as wide as those of the file. */
static int read_address(const struct elffile *ef, struct span *in, uint64_t *ret)
{
	uint32_t narrow;
	int r;

	if (elffile_header(ef)->e_ident[EI_CLASS] == ELFCLASS64)
		return span_u64(in, ret);
	r = span_u32(in, &narrow);
	if (r == 0)
		*ret = narrow;
	return r;
}

/* Takes a string and its end; NULL if it has none. */
static const char *read_string(struct span *in)
{
	const void *end = memchr(in->at, '\0', in->left);

	return end ? span_take(in, (size_t)((const uint8_t *)end - in->at) + 1) : NULL;
}

/* Reads a mark: its address, that of a section that prelink(8) moves along with it, that of its
 * semaphore, and names. @base is where that section is. */
static bool read_mark(const struct elffile *ef, struct span in, uint64_t base,
		      struct probe_place *ret)
{
	struct probe_place place = { 0 };
	uint64_t address, then, semaphore;

	if (read_address(ef, &in, &address) < 0 || read_address(ef, &in, &then) < 0 ||
	    read_address(ef, &in, &semaphore) < 0)
		return false;
	place.provider = read_string(&in);
	place.name = place.provider ? read_string(&in) : NULL;
	if (!place.name || !elffile_offset(ef, address + (base ? base - then : 0), &place.offset))
		return false;
	if (semaphore &&
	    !elffile_offset(ef, semaphore + (base ? base - then : 0), &place.semaphore))
		return false;
	*ret = place;
	return true;
}

void probe_place_marks(const struct elffile *ef, probe_place_visitor *each, void *data)
{
	static const char owner[] = "stapsdt";
	struct elf_section section;
	Elf_Data *notes;
	size_t at = 0, next, name, content;
	uint64_t base = 0;
	GElf_Nhdr note;

	if (elffile_find_section(ef, ".stapsdt.base", &section))
		base = section.header.sh_addr;
	if (!elffile_find_section(ef, ".note.stapsdt", &section))
		return;
	notes = (Elf_Data *)elffile_data(&section);
	for (; notes && (next = gelf_getnote(notes, at, &note, &name, &content)) > 0; at = next) {
		const char *bytes = notes->d_buf;
		struct probe_place place;

		if (note.n_type == MARK_NOTE && note.n_namesz == sizeof(owner) &&
		    !memcmp(bytes + name, owner, sizeof(owner)) &&
		    read_mark(ef, span_of(bytes + content, note.n_descsz), base, &place))
			each(&place, data);
	}
}
