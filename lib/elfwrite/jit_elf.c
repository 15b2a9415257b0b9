/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elfwrite/jit_elf.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "jit/jit.h"
#include "elfwrite/internal/jit_dwarf.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	GAP_MIN = 4096, /* code closer than that is one section */
	RUNS_MAX = 4096
};

/* Pieces of code close to each other: a section and, where code is known, a segment. */
struct run {
	size_t first, count; /* of the sorted pieces */
	uint64_t start, size;
	uint8_t *bytes; /* NULL: unknown */
};

struct writer {
	const struct jit_code **codes; /* sorted by place */
	size_t count;
	struct run *runs;
	size_t run_count;
	struct strbuf names, symbols, strings; /* .shstrtab, .symtab, .strtab */
	struct jit_dwarf dwarf;
	Elf *elf;
};

static int by_place(const void *a, const void *b)
{
	const struct jit_code *x = *(const struct jit_code *const *)a,
			      *y = *(const struct jit_code *const *)b;

	return x->place < y->place ? -1 : x->place > y->place;
}

static size_t count_runs(const struct writer *w, uint64_t gap)
{
	size_t i, n = w->count ? 1 : 0;

	for (i = 1; i < w->count; i++)
		n += w->codes[i]->place - (w->codes[i - 1]->place + w->codes[i - 1]->size) > gap;
	return n;
}

static void fill_run(struct writer *w, struct run *r)
{
	const struct jit_code *last = w->codes[r->first + r->count - 1];
	bool known = false;
	size_t i;

	r->start = w->codes[r->first]->place;
	r->size = last->place + last->size - r->start;
	for (i = r->first; i < r->first + r->count; i++)
		known = known || w->codes[i]->bytes;
	if (!known || r->size > 2 * (size_t)JIT_BYTES_MAX)
		return;
	r->bytes = xcalloc(1, r->size);
	for (i = r->first; i < r->first + r->count; i++)
		if (w->codes[i]->bytes)
			memcpy(r->bytes + (w->codes[i]->place - r->start), w->codes[i]->bytes,
			       w->codes[i]->size);
}

static void make_runs(struct writer *w)
{
	uint64_t gap = GAP_MIN;
	struct run *r = NULL;
	size_t i;

	while (count_runs(w, gap) > RUNS_MAX)
		gap *= 2;
	w->runs = xcalloc(count_runs(w, gap) + 1, sizeof(*w->runs));
	for (i = 0; i < w->count; i++) {
		const struct jit_code *c = w->codes[i];

		if (!r || c->place - (w->codes[i - 1]->place + w->codes[i - 1]->size) > gap) {
			r = &w->runs[w->run_count++];
			r->first = i;
		}
		r->count++;
	}
	for (i = 0; i < w->run_count; i++)
		fill_run(w, &w->runs[i]);
}

/* Adds a string to a string table; returns where. */
static uint32_t add_string(struct strbuf *b, const char *s)
{
	uint32_t at = (uint32_t)b->length;

	strbuf_add(b, s, strlen(s) + 1);
	return at;
}

static int add_section(struct writer *w, const char *name, const GElf_Shdr *header,
		       const void *data, size_t size, Elf_Type type)
{
	Elf_Scn *section = elf_newscn(w->elf);
	Elf_Data *d = section ? elf_newdata(section) : NULL;
	GElf_Shdr shdr = *header;

	if (!d)
		return -1;
	d->d_align = shdr.sh_addralign;
	d->d_buf = (void *)data;
	d->d_size = size;
	d->d_type = type;
	d->d_version = EV_CURRENT;
	shdr.sh_name = add_string(&w->names, name);
	return gelf_update_shdr(section, &shdr) ? 0 : -1;
}

static int add_code(struct writer *w)
{
	size_t i;

	for (i = 0; i < w->run_count; i++) {
		const struct run *r = &w->runs[i];
		GElf_Shdr header = { .sh_type = r->bytes ? SHT_PROGBITS : SHT_NOBITS,
				     .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				     .sh_addr = r->start,
				     .sh_addralign = 1 };

		if (add_section(w, ".text", &header, r->bytes, r->size, ELF_T_BYTE) < 0)
			return -1;
	}
	return 0;
}

static void make_symbols(struct writer *w)
{
	Elf64_Sym symbol = { 0 };
	size_t i, k;

	strbuf_add(&w->symbols, &symbol, sizeof(symbol));
	(void)add_string(&w->strings, "");
	for (i = 0; i < w->run_count; i++) {
		for (k = 0; k < w->runs[i].count; k++) {
			const struct jit_code *c = w->codes[w->runs[i].first + k];

			symbol = (Elf64_Sym){ .st_name = add_string(&w->strings, c->name),
					      .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					      .st_shndx = (Elf64_Section)(i + 1),
					      .st_value = c->place,
					      .st_size = c->size };
			strbuf_add(&w->symbols, &symbol, sizeof(symbol));
		}
	}
}

static int add_symbols(struct writer *w)
{
	GElf_Shdr symtab = { .sh_type = SHT_SYMTAB,
			     .sh_link = (GElf_Word)w->run_count + 2,
			     .sh_info = 1,
			     .sh_entsize = sizeof(Elf64_Sym),
			     .sh_addralign = 8 };
	GElf_Shdr strtab = { .sh_type = SHT_STRTAB, .sh_addralign = 1 };

	make_symbols(w);
	if (add_section(w, ".symtab", &symtab, w->symbols.text, w->symbols.length, ELF_T_SYM) < 0)
		return -1;
	return add_section(w, ".strtab", &strtab, w->strings.text, w->strings.length, ELF_T_BYTE);
}

static int add_lines(struct writer *w)
{
	const struct {
		const char *name;
		const struct strbuf *bytes;
	} sections[] = { { ".debug_info", &w->dwarf.info },
			 { ".debug_abbrev", &w->dwarf.abbrev },
			 { ".debug_line", &w->dwarf.line },
			 { ".debug_aranges", &w->dwarf.aranges } };
	GElf_Shdr header = { .sh_type = SHT_PROGBITS, .sh_addralign = 1 };
	size_t i, places = w->count;

	/* Code at places of its own is far from the rest: a unit of its own. */
	while (places && w->codes[places - 1]->place >= JIT_PLACE_START)
		places--;
	jit_dwarf_add(&w->dwarf, w->codes, places);
	jit_dwarf_add(&w->dwarf, w->codes + places, w->count - places);
	for (i = 0; w->dwarf.info.length && i < ARRAY_SIZE(sections); i++)
		if (add_section(w, sections[i].name, &header, sections[i].bytes->text,
				sections[i].bytes->length, ELF_T_BYTE) < 0)
			return -1;
	return 0;
}

static int add_names(struct writer *w)
{
	GElf_Shdr header = { .sh_type = SHT_STRTAB, .sh_addralign = 1 };
	Elf_Scn *section;
	Elf_Data *data;

	if (add_section(w, ".shstrtab", &header, NULL, 0, ELF_T_BYTE) < 0)
		return -1;
	/* The table holds its own name too: it is whole only now. */
	section = elf_getscn(w->elf, w->run_count + (w->dwarf.info.length ? 7 : 3));
	data = elf_getdata(section, NULL);
	if (!data)
		return -1;
	data->d_buf = w->names.text;
	data->d_size = w->names.length;
	return 0;
}

static unsigned int machine(void)
{
#if defined(__x86_64__)
	return EM_X86_64;
#elif defined(__aarch64__)
	return EM_AARCH64;
#elif defined(__powerpc64__)
	return EM_PPC64;
#elif defined(__s390x__)
	return EM_S390;
#elif defined(__riscv)
	return EM_RISCV;
#else
	return EM_NONE;
#endif
}

static int add_header(struct writer *w)
{
	GElf_Ehdr header;

	if (!gelf_newehdr(w->elf, ELFCLASS64) || !gelf_getehdr(w->elf, &header))
		return -1;
	header.e_ident[EI_DATA] = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	header.e_type = ET_EXEC;
	header.e_machine = (GElf_Half)machine();
	header.e_version = EV_CURRENT;
	header.e_shstrndx = (GElf_Half)(w->run_count + (w->dwarf.info.length ? 7 : 3));
	return gelf_update_ehdr(w->elf, &header) ? 0 : -1;
}

/* Segments say where in the file the code at an address lies; sections must have their place. */
static int add_segments(struct writer *w)
{
	size_t i;

	if (!gelf_newphdr(w->elf, w->run_count) || elf_update(w->elf, ELF_C_NULL) < 0)
		return -1;
	for (i = 0; i < w->run_count; i++) {
		const struct run *r = &w->runs[i];
		GElf_Shdr section;
		GElf_Phdr p;

		if (!gelf_getshdr(elf_getscn(w->elf, i + 1), &section))
			return -1;
		p = (GElf_Phdr){ .p_type = PT_LOAD,
				 .p_flags = PF_R | PF_X,
				 .p_offset = section.sh_offset,
				 .p_vaddr = r->start,
				 .p_paddr = r->start,
				 .p_filesz = r->bytes ? r->size : 0,
				 .p_memsz = r->size,
				 .p_align = 1 };
		if (!gelf_update_phdr(w->elf, (int)i, &p))
			return -1;
	}
	return 0;
}

static int write_elf(struct writer *w, int fd)
{
	int r = -1;

	w->elf = elf_begin(fd, ELF_C_WRITE, NULL);
	if (w->elf && gelf_newehdr(w->elf, ELFCLASS64) && add_code(w) == 0 && add_symbols(w) == 0 &&
	    add_lines(w) == 0 && add_names(w) == 0 && add_header(w) == 0 && add_segments(w) == 0 &&
	    elf_update(w->elf, ELF_C_WRITE) >= 0)
		r = 0;
	(void)elf_end(w->elf);
	return r;
}

static void writer_done(struct writer *w)
{
	size_t i;

	for (i = 0; i < w->run_count; i++)
		free(w->runs[i].bytes);
	free(w->runs);
	free(w->codes);
	strbuf_done(&w->names);
	strbuf_done(&w->symbols);
	strbuf_done(&w->strings);
	jit_dwarf_done(&w->dwarf);
}

static void writer_start(struct writer *w, const struct jit *j)
{
	size_t i;

	(void)elf_version(EV_CURRENT);
	w->count = jit_count(j);
	w->codes = xcalloc(w->count + 1, sizeof(*w->codes));
	for (i = 0; i < w->count; i++)
		w->codes[i] = jit_at(j, i);
	qsort(w->codes, w->count, sizeof(*w->codes), by_place);
	make_runs(w);
	(void)add_string(&w->names, "");
}

int jit_elf_write(const struct jit *j, const char *path, struct error *err)
{
	_cleanup_free_ char *temporary = xasprintf("%s.XXXXXX", path);
	_cleanup_(writer_done) struct writer w = { 0 };
	_cleanup_close_ int fd = mkostemp(temporary, O_CLOEXEC);
	int r = 0;

	if (fd < 0)
		return error_errno(err, -errno, "%s", temporary);
	writer_start(&w, j);
	if (write_elf(&w, fd) < 0)
		r = error_set(err, -EIO, "%s: %s", path, elf_errmsg(-1));
	else if (fchmod(fd, 0644) < 0 || rename(temporary, path) < 0)
		r = error_errno(err, -errno, "%s", path);
	if (r < 0)
		(void)unlink(temporary);
	return r;
}
