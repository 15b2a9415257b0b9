/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elfwrite/internal/elf_writer.h"

#include "base/mem.h"
#include "elfwrite/line_table.h"

#include <errno.h>
#include <string.h>

struct elf_writer_segment {
	GElf_Phdr header;
	size_t section; /* whose offset it has, or 0 */
};

void elf_writer_begin(struct elf_writer *w, int fd, const GElf_Ehdr *like)
{
	GElf_Ehdr header;

	(void)elf_version(EV_CURRENT);
	strbuf_add(&w->names, "", 1);
	strbuf_add(&w->strings, "", 1);
	w->elf = elf_begin(fd, ELF_C_WRITE, NULL);
	if (!w->elf || !gelf_newehdr(w->elf, like->e_ident[EI_CLASS]) ||
	    !gelf_getehdr(w->elf, &header)) {
		w->failed = true;
		return;
	}
	header.e_ident[EI_DATA] = like->e_ident[EI_DATA];
	header.e_ident[EI_OSABI] = like->e_ident[EI_OSABI];
	header.e_type = like->e_type;
	header.e_machine = like->e_machine;
	header.e_version = EV_CURRENT;
	header.e_flags = like->e_flags;
	w->failed |= !gelf_update_ehdr(w->elf, &header);
}

void *elf_writer_keep(struct elf_writer *w, void *memory)
{
	array_grow(&w->kept, w->kept_count + 1, &w->kept_room);
	w->kept[w->kept_count++] = memory;
	return memory;
}

static Elf_Data *add_data(struct elf_writer *w, const char *name, const GElf_Shdr *header,
			  const void *bytes, size_t size)
{
	Elf_Scn *section = elf_newscn(w->elf);
	Elf_Data *data = section ? elf_newdata(section) : NULL;
	GElf_Shdr h = *header;

	if (!data) {
		w->failed = true;
		return NULL;
	}
	data->d_buf = (void *)bytes;
	data->d_size = size;
	data->d_type = h.sh_type == SHT_SYMTAB ? ELF_T_SYM : ELF_T_BYTE;
	data->d_version = EV_CURRENT;
	data->d_align = MAX(h.sh_addralign, (GElf_Xword)1);
	h.sh_size = size;
	h.sh_name = (GElf_Word)w->names.length;
	strbuf_add(&w->names, name, strlen(name) + 1);
	w->failed |= !gelf_update_shdr(section, &h);
	return data;
}

/* The number of the section that was added last. */
static size_t last_section(const struct elf_writer *w)
{
	size_t count = 0;

	return elf_getshdrnum(w->elf, &count) == 0 && count ? count - 1 : 0;
}

size_t elf_writer_section(struct elf_writer *w, const char *name, const GElf_Shdr *header,
			  const void *bytes, size_t size)
{
	return add_data(w, name, header, bytes, size) ? last_section(w) : 0;
}

void elf_writer_symbol(struct elf_writer *w, const GElf_Sym *symbol, const char *name,
		       const char *next)
{
	array_grow(&w->symbols, w->symbol_count + 1, &w->symbol_room);
	w->symbols[w->symbol_count] = *symbol;
	w->symbols[w->symbol_count++].st_name = (GElf_Word)w->strings.length;
	strbuf_add(&w->strings, name, strlen(name) + 1);
	if (next)
		strbuf_add(&w->strings, next, strlen(next) + 1);
}

void elf_writer_segment(struct elf_writer *w, const GElf_Phdr *segment, size_t section)
{
	array_grow(&w->segments, w->segment_count + 1, &w->segment_room);
	w->segments[w->segment_count++] = (struct elf_writer_segment){ *segment, section };
}

/* The symbol table, whose string table is the section after it. */
static void add_symbols(struct elf_writer *w)
{
	size_t count = w->symbol_count + 1, size = gelf_fsize(w->elf, ELF_T_SYM, count, EV_CURRENT);
	GElf_Shdr header = { .sh_type = SHT_SYMTAB,
			     .sh_addralign = 8,
			     .sh_link = (GElf_Word)last_section(w) + 2,
			     .sh_info = 1,
			     .sh_entsize = gelf_fsize(w->elf, ELF_T_SYM, 1, EV_CURRENT) };
	Elf_Data *data =
		add_data(w, ".symtab", &header, elf_writer_keep(w, xcalloc(1, size)), size);
	size_t i;

	for (i = 0; data && i < w->symbol_count; i++)
		w->failed |= !gelf_update_sym(data, (int)i + 1, &w->symbols[i]);
	(void)add_data(w, ".strtab", &(GElf_Shdr){ .sh_type = SHT_STRTAB, .sh_addralign = 1 },
		       w->strings.text, w->strings.length);
}

/* The table of section names, which has its own name too: it is complete only now. */
static void add_names(struct elf_writer *w)
{
	GElf_Shdr header = { .sh_type = SHT_STRTAB, .sh_addralign = 1 };
	Elf_Data *data = add_data(w, ".shstrtab", &header, NULL, 0);
	GElf_Ehdr ehdr;

	if (!data || !gelf_getehdr(w->elf, &ehdr)) {
		w->failed = true;
		return;
	}
	data->d_buf = w->names.text;
	data->d_size = w->names.length;
	ehdr.e_shstrndx = (GElf_Half)last_section(w);
	w->failed |= !gelf_update_ehdr(w->elf, &ehdr);
}

/* Sections have an offset only when all of them and the number of segments are known. */
static void add_segments(struct elf_writer *w)
{
	size_t i;

	if (!w->segment_count)
		return;
	w->failed |= !gelf_newphdr(w->elf, w->segment_count) || elf_update(w->elf, ELF_C_NULL) < 0;
	for (i = 0; !w->failed && i < w->segment_count; i++) {
		struct elf_writer_segment *s = &w->segments[i];
		GElf_Shdr section;

		if (s->section && gelf_getshdr(elf_getscn(w->elf, s->section), &section))
			s->header.p_offset = section.sh_offset;
		w->failed |= !gelf_update_phdr(w->elf, (int)i, &s->header);
	}
}

int elf_writer_finish(struct elf_writer *w, const struct line_table_section *debug)
{
	GElf_Shdr header = { .sh_type = SHT_PROGBITS, .sh_addralign = 1 };
	size_t i;

	if (!w->failed)
		add_symbols(w);
	for (i = 0; !w->failed && debug && i < LINE_TABLE_SECTIONS; i++)
		(void)add_data(w, debug[i].name, &header, debug[i].bytes, debug[i].size);
	if (!w->failed)
		add_names(w);
	if (!w->failed)
		add_segments(w);
	w->failed = w->failed || elf_update(w->elf, ELF_C_WRITE) < 0;
	return w->failed ? -EIO : 0;
}

void elf_writer_done(struct elf_writer *w)
{
	(void)elf_end(w->elf);
	while (w->kept_count)
		free(w->kept[--w->kept_count]);
	free(w->kept);
	free(w->symbols);
	free(w->segments);
	strbuf_done(&w->names);
	strbuf_done(&w->strings);
}
