/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "disasm/disasm.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* bfd.h cannot be included without. */
#define PACKAGE		"oprofile"
#define PACKAGE_VERSION OPROFILE_VERSION
#include <dis-asm.h>

/* Limit for reading a core file's memory at once; larger than any function. */
enum { CORE_MAX = 16 << 20 };

struct disasm {
	const struct elffile *ef;
	disassembler_ftype print;
	disassemble_info info;
	char *options;
	disasm_namer *namer;
	void *namer_data;
	struct strbuf text;
	uint64_t at, end;		     /* what is left of the code */
	struct elf_section section;	     /* that it is in */
	const uint8_t *bytes;		     /* of the section */
	uint64_t base;			     /* its address */
	const Elf_Data *relocations;	     /* of it, in a relocatable file; or NULL */
	size_t relocation, relocation_count; /* the next one */
	size_t relocation_symbols;	     /* section of their symbols */
};

/* Machines as ELF and as libopcodes number them; mach 0 is an architecture's default. */
static const struct {
	unsigned int machine;
	unsigned char class; /* ELFCLASS*, or ELFCLASSNONE: any */
	enum bfd_architecture arch;
	unsigned long mach;
} machines[] = {
	{ EM_X86_64, ELFCLASS64, bfd_arch_i386, bfd_mach_x86_64 },
	{ EM_X86_64, ELFCLASS32, bfd_arch_i386, bfd_mach_x64_32 },
	{ EM_386, ELFCLASSNONE, bfd_arch_i386, bfd_mach_i386_i386 },
	{ EM_AARCH64, ELFCLASSNONE, bfd_arch_aarch64, 0 },
	{ EM_ARM, ELFCLASSNONE, bfd_arch_arm, 0 },
	{ EM_PPC64, ELFCLASSNONE, bfd_arch_powerpc, bfd_mach_ppc64 },
	{ EM_PPC, ELFCLASSNONE, bfd_arch_powerpc, bfd_mach_ppc },
	{ EM_S390, ELFCLASSNONE, bfd_arch_s390, 0 },
	{ EM_RISCV, ELFCLASS64, bfd_arch_riscv, bfd_mach_riscv64 },
	{ EM_RISCV, ELFCLASS32, bfd_arch_riscv, bfd_mach_riscv32 },
	{ EM_MIPS, ELFCLASSNONE, bfd_arch_mips, 0 },
};

static int add_text(void *stream, const char *format, ...) _printf_(2, 3);
static int add_styled(void *stream, enum disassembler_style style, const char *format, ...)
	_printf_(3, 4);

static int add_v(struct disasm *d, const char *format, va_list ap)
{
	_cleanup_free_ char *text = xvasprintf(format, ap);

	strbuf_adds(&d->text, text);
	return (int)strlen(text);
}

static int add_text(void *stream, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = add_v(stream, format, ap);
	va_end(ap);
	return n;
}

static int add_styled(void *stream, enum disassembler_style style _unused_, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = add_v(stream, format, ap);
	va_end(ap);
	return n;
}

static void add_address(bfd_vma address, disassemble_info *info)
{
	struct disasm *d = info->stream;

	strbuf_addf(&d->text, "%" PRIx64, (uint64_t)address);
	if (d->namer)
		d->namer(address, &d->text, d->namer_data);
}

/* That nothing was decoded shows in the size. */
static void ignore_error(int status _unused_, bfd_vma address _unused_,
			 disassemble_info *info _unused_)
{
}

static bool find_machine(const GElf_Ehdr *header, disassemble_info *info)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(machines); i++) {
		if (machines[i].machine != header->e_machine ||
		    (machines[i].class != ELFCLASSNONE &&
		     machines[i].class != header->e_ident[EI_CLASS]))
			continue;
		info->arch = machines[i].arch;
		info->mach = machines[i].mach;
		return true;
	}
	return false;
}

int disasm_new(const struct elffile *ef, const char *options, disasm_namer *namer, void *data,
	       struct disasm **ret, struct error *err)
{
	const GElf_Ehdr *header = elffile_header(ef);
	bool big = header->e_ident[EI_DATA] == ELFDATA2MSB;
	_cleanup_(disasm_freep) struct disasm *d = xcalloc(1, sizeof(*d));

	d->ef = ef;
	d->namer = namer;
	d->namer_data = data;
	d->options = options ? xstrdup(options) : NULL;
	init_disassemble_info(&d->info, d, add_text, add_styled);
	d->info.endian = d->info.endian_code = d->info.display_endian =
		big ? BFD_ENDIAN_BIG : BFD_ENDIAN_LITTLE;
	d->info.flavour = bfd_target_elf_flavour;
	d->info.disassembler_options = d->options;
	d->info.print_address_func = add_address;
	d->info.memory_error_func = ignore_error;
	if (find_machine(header, &d->info))
		d->print = disassembler(d->info.arch, big, d->info.mach, NULL);
	if (!d->print)
		return error_set(err, -ENOTSUP, "%s: no disassembler for its machine (%u)",
				 elffile_path(ef), header->e_machine);
	disassemble_init_for_target(&d->info);
	*ret = STEAL(d);
	return 0;
}

void disasm_free(struct disasm *d)
{
	if (!d)
		return;
	if (d->print)
		disassemble_free_target(&d->info);
	strbuf_done(&d->text);
	free(d->options);
	free(d);
}

/* Finds the relocations of the current section; a linked file has none. */
static void find_relocations(struct disasm *d)
{
	size_t i, n = elffile_section_count(d->ef);

	d->relocations = NULL;
	for (i = 0; elffile_header(d->ef)->e_type == ET_REL && i < n; i++) {
		struct elf_section s;

		if (elffile_section(d->ef, i, &s) && s.header.sh_type == SHT_RELA &&
		    s.header.sh_info == d->section.index && s.header.sh_entsize) {
			d->relocations = elffile_data(&s);
			d->relocation_count = (size_t)MIN(s.header.sh_size / s.header.sh_entsize,
							  (GElf_Xword)INT32_MAX);
			d->relocation_symbols = s.header.sh_link;
			d->relocation = 0;
			return;
		}
	}
}

/* The name of a relocation's symbol: of a section if it has none of its own. */
static const char *relocation_name(const struct disasm *d, size_t index)
{
	struct elf_section table, section;
	const Elf_Data *data;
	const char *name;
	GElf_Sym sym;

	if (!elffile_section(d->ef, d->relocation_symbols, &table) ||
	    !(data = elffile_data(&table)) || index > INT32_MAX ||
	    !gelf_getsym((Elf_Data *)data, (int)index, &sym))
		return NULL;
	if (GELF_ST_TYPE(sym.st_info) == STT_SECTION)
		return elffile_section(d->ef, sym.st_shndx, &section) ? section.name : NULL;
	name = elffile_string(d->ef, table.header.sh_link, sym.st_name);
	return name && *name ? name : NULL;
}

/* Adds the target that relocation will put into the instruction of @size bytes: without it a call
 * in a module has none. Compilers write relocations in the order of the code. */
static void add_relocations(struct disasm *d, unsigned int size)
{
	uint64_t at = d->at - d->base;
	GElf_Rela r;

	for (; d->relocation < d->relocation_count; d->relocation++) {
		const char *name;

		if (!gelf_getrela((Elf_Data *)d->relocations, (int)d->relocation, &r) ||
		    r.r_offset >= at + size)
			return;
		name = r.r_offset >= at ? relocation_name(d, GELF_R_SYM(r.r_info)) : NULL;
		if (!name)
			continue;
		strbuf_addf(&d->text, " # %s", name);
		if (r.r_addend)
			strbuf_addf(&d->text, "%c0x%" PRIx64, r.r_addend < 0 ? '-' : '+',
				    r.r_addend < 0 ? -(uint64_t)r.r_addend : (uint64_t)r.r_addend);
	}
}

/* Makes the section that contains @address the current one. */
static bool enter_section(struct disasm *d, size_t index, uint64_t address)
{
	uint64_t base = elffile_section_base(d->ef, index);
	struct elf_section s;
	const Elf_Data *data;

	if (!elffile_section(d->ef, index, &s) || !elffile_section_is_code(d->ef, &s) ||
	    address < base || address - base >= s.header.sh_size)
		return false;
	data = elffile_data(&s);
	if (!data || address - base >= data->d_size || base + data->d_size < base)
		return false;
	d->section = s;
	d->bytes = data->d_buf;
	d->base = base;
	d->info.buffer = data->d_buf;
	d->info.buffer_vma = base;
	d->info.buffer_length = data->d_size;
	find_relocations(d);
	return true;
}

/* Reads part of a core file's segment as the current section. It is not mapped: a kernel's segment
 * is as large as its address space. */
static bool enter_segment(struct disasm *d, uint64_t start, uint64_t end)
{
	Elf_Data *data = NULL;
	uint64_t offset, last;

	if (elffile_header(d->ef)->e_type != ET_CORE || end <= start || end - start > CORE_MAX ||
	    !elffile_offset(d->ef, start, &offset) || !elffile_offset(d->ef, end - 1, &last) ||
	    last - offset != end - 1 - start)
		return false;
	data = elffile_chunk(d->ef, offset, end - start, ELF_T_BYTE);
	if (!data)
		return false;
	d->section.name = "memory";
	d->bytes = data->d_buf;
	d->base = start;
	d->info.buffer = data->d_buf;
	d->info.buffer_vma = start;
	d->info.buffer_length = end - start;
	return true;
}

bool disasm_seek(struct disasm *d, uint64_t start, uint64_t end)
{
	size_t i, n = elffile_section_count(d->ef);

	d->at = d->end = 0;
	for (i = 0; i < n; i++)
		if (enter_section(d, i, start))
			break;
	if (end <= start || (i == n && !enter_segment(d, start, end)))
		return false;
	d->at = start;
	d->end = MIN(end, d->base + d->info.buffer_length);
	d->info.stop_vma = d->end;
	return true;
}

const char *disasm_section(const struct disasm *d)
{
	return d->section.name;
}

/* Strips trailing blanks, which some decoders write. */
static void trim(struct strbuf *text)
{
	while (text->length && strchr(" \t", text->text[text->length - 1]))
		text->text[--text->length] = '\0';
}

bool disasm_next(struct disasm *d, struct disasm_insn *ret)
{
	const uint8_t *bytes = d->bytes + (d->at - d->base);
	int size;

	if (d->at >= d->end)
		return false;
	strbuf_clear(&d->text);
	d->info.insn_info_valid = 0;
	size = d->print(d->at, &d->info);
	if (size <= 0) {
		strbuf_clear(&d->text);
		strbuf_addf(&d->text, ".byte 0x%02x", bytes[0]);
		size = 1;
	}
	if ((uint64_t)size > d->end - d->at)
		size = (int)(d->end - d->at);
	trim(&d->text);
	if (d->relocations)
		add_relocations(d, (unsigned int)size);
	*ret = (struct disasm_insn){ .address = d->at,
				     .size = (unsigned int)size,
				     .bytes = bytes,
				     .text = strbuf_text(&d->text) };
	d->at += (unsigned int)size;
	return true;
}
