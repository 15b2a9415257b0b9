/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/elfsym.h"

#include "base/mem.h"
#include "symbol/internal/elfdyn.h"

#include <libelf.h>
#include <string.h>

/* Where a symbol's section is. */
struct section_code {
	uint64_t base; /* what st_value of a relocatable file is relative to, else 0 */
	uint64_t end;  /* address after its last byte */
	bool is_code;
};

/* A symbol table being added to a symtab. */
struct loader {
	const struct elffile *image; /* whose segments give the file offsets */
	const struct elffile *file;  /* that has the symbol table: the same, or a debug file */
	struct section_code *sections;
	enum elfsym_unit unit;
	uint64_t text; /* the base for ELFSYM_FROM_TEXT */
	bool objects;  /* the symbols of objects are wanted, not those of functions */
	struct symtab *out;
	size_t added;
};

void elfsym_release(void *ef)
{
	elffile_close(ef);
}

static struct section_code *read_sections(const struct elffile *ef)
{
	size_t i, n = elffile_section_count(ef);
	struct section_code *codes = xcalloc(n + 1, sizeof(*codes));

	for (i = 0; i < n; i++) {
		struct elf_section s;

		if (!elffile_section(ef, i, &s))
			continue;
		codes[i].is_code = elffile_section_is_code(ef, &s);
		codes[i].end = elffile_section_base(ef, i) + s.header.sh_size;
		if (elffile_header(ef)->e_type == ET_REL)
			codes[i].base = elffile_section_base(ef, i);
	}
	return codes;
}

static bool place(const struct loader *l, uint64_t address, uint64_t *ret)
{
	if (l->unit == ELFSYM_FILE_OFFSET)
		return elffile_offset(l->image, address, ret);
	*ret = address - l->text;
	return address >= l->text;
}

static bool is_function(const GElf_Sym *sym)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

/* A symbol's value without the flag of ARM, whose lowest bit marks Thumb code. */
static uint64_t value_of(const struct elffile *file, const GElf_Sym *sym)
{
	bool may_be_thumb = elffile_header(file)->e_machine == EM_ARM &&
			    GELF_ST_TYPE(sym->st_info) != STT_NOTYPE;

	return may_be_thumb ? sym->st_value & ~(uint64_t)1 : sym->st_value;
}

static unsigned int rank_of(const GElf_Sym *sym)
{
	unsigned int bind = GELF_ST_BIND(sym->st_info), seen = GELF_ST_VISIBILITY(sym->st_other);
	unsigned int go = sym->st_other & ELFFILE_OTHER_GO ? SYMBOL_GO : 0;

	if (bind == STB_LOCAL || seen == STV_HIDDEN || seen == STV_INTERNAL)
		return SYMBOL_LOCAL | go;
	return (bind == STB_WEAK ? SYMBOL_WEAK : 0) | go;
}

/* Only ELF subsets (oparchive --compact) have symbols for PLT entries. */
static bool is_plt_name(const char *name)
{
	size_t length = strlen(name), n = strlen("@plt");

	return length > n && !strcmp(name + length - n, "@plt");
}

/* Whether it is a name for internal use of compilers and assemblers: mapping symbols ($x, $d.7,
 * $xrv64i2p1) of ARM, AArch64 and RISC-V, local labels (.L1). Erlang's names begin with $, too. */
static bool is_internal_name(const char *name)
{
	if (name[0] == '$' && name[1] && strchr("adtx", name[1]))
		return !name[2] || name[2] == '.' || !strncmp(name, "$xrv", 4);
	return name[0] == '\0' || (name[0] == '.' && name[1] == 'L');
}

/* Adds a symbol of code that ends with its section (or segment) @code. */
static void add_symbol(struct loader *l, const GElf_Sym *sym, const struct section_code *code,
		       const char *name)
{
	struct symbol s = { .name = name, .rank = rank_of(sym) };

	s.address = value_of(l->file, sym) + code->base;
	if (!code->is_code || s.address >= code->end || !place(l, s.address, &s.offset))
		return;
	if (is_plt_name(name))
		s.rank |= SYMBOL_SYNTHETIC;
	s.limit = s.offset + (code->end - s.address);
	s.end = s.offset + MIN(sym->st_size, code->end - s.address);
	symtab_add(l->out, &s);
	l->added++;
}

/* Whether it may name code in a section. */
static bool is_wanted(const struct loader *l, const GElf_Sym *sym)
{
	bool is_object = GELF_ST_TYPE(sym->st_info) == STT_OBJECT && sym->st_size;

	return (l->objects ? is_object : is_function(sym)) && sym->st_shndx != SHN_UNDEF &&
	       sym->st_shndx < SHN_LORESERVE;
}

static void load_table(struct loader *l, const struct elf_section *table)
{
	const Elf_Data *data = elffile_data(table);
	size_t i, n;

	if (!data || table->header.sh_entsize == 0)
		return;
	n = MIN((size_t)(table->header.sh_size / table->header.sh_entsize), (size_t)UINT32_MAX / 2);
	for (i = 1; i < n; i++) {
		GElf_Sym sym;
		const char *name;

		if (!gelf_getsym((Elf_Data *)data, (int)i, &sym))
			return;
		if (!is_wanted(l, &sym) || sym.st_shndx >= elffile_section_count(l->file))
			continue;
		name = elffile_string(l->file, table->header.sh_link, sym.st_name);
		if (name && !is_internal_name(name))
			add_symbol(l, &sym, &l->sections[sym.st_shndx], name);
	}
}

/* The executable segment that contains the symbol. */
static struct section_code segment_of(const struct elffile *ef, const GElf_Sym *sym)
{
	struct section_code code = { 0 };
	uint64_t start;
	size_t i;

	for (i = 0; !code.is_code && elffile_code_segment(ef, i, &start, &code.end); i++)
		code.is_code = sym->st_value >= start && sym->st_value < code.end;
	return code;
}

/* Adds the symbols of a file without section headers. */
static void load_dynamic(struct loader *l, const struct elffile *file)
{
	struct elfdyn dyn;
	GElf_Sym sym;
	size_t i;

	l->file = file;
	if (!elfdyn_find(file, &dyn))
		return;
	for (i = 1; i < dyn.count && gelf_getsym(dyn.symbols, (int)i, &sym); i++) {
		const char *name = elfdyn_name(&dyn, &sym);
		struct section_code code = segment_of(file, &sym);

		if (is_wanted(l, &sym) && !is_internal_name(name))
			add_symbol(l, &sym, &code, name);
	}
}

/* The number of global symbols in a table. */
static size_t global_count(const struct elffile *ef, unsigned int type)
{
	size_t i, n = elffile_section_count(ef);

	for (i = 0; i < n; i++) {
		struct elf_section s;
		size_t count;

		if (!elffile_section(ef, i, &s) || s.header.sh_type != type || !s.header.sh_entsize)
			continue;
		count = s.header.sh_size / s.header.sh_entsize;
		return count - MIN(count, (size_t)s.header.sh_info);
	}
	return 0;
}

static void load_file(struct loader *l, const struct elffile *file, bool with_dynsym)
{
	size_t i, n = elffile_section_count(file);
	_cleanup_free_ struct section_code *sections = read_sections(file);

	l->file = file;
	l->sections = sections;
	for (i = 0; i < n; i++) {
		struct elf_section s;

		if (elffile_section(file, i, &s) &&
		    (s.header.sh_type == SHT_SYMTAB ||
		     (with_dynsym && s.header.sh_type == SHT_DYNSYM)))
			load_table(l, &s);
	}
}

/* The address of the symbol @name, or false. */
static bool find_address(const struct elffile *ef, const char *name, uint64_t *ret)
{
	struct elf_section table;
	const Elf_Data *data;
	GElf_Sym sym;
	int i;

	if (!elffile_find_section(ef, ".symtab", &table) || !(data = elffile_data(&table)))
		return false;
	for (i = 1; gelf_getsym((Elf_Data *)data, i, &sym); i++) {
		const char *found = elffile_string(ef, table.header.sh_link, sym.st_name);

		if (found && !strcmp(found, name)) {
			*ret = sym.st_value;
			return true;
		}
	}
	return false;
}

/* The base of the offsets in samples of a kernel. */
uint64_t elfsym_text_start(const struct elffile *ef)
{
	struct elf_section text;
	uint64_t address;

	if (find_address(ef, "_text", &address) || find_address(ef, "_stext", &address))
		return address;
	return elffile_find_section(ef, ".text", &text) ? text.header.sh_addr : 0;
}

size_t elfsym_load(const struct elffile *ef, const struct elffile *debug, enum elfsym_unit unit,
		   struct symtab *st)
{
	struct loader l = { .image = ef, .unit = unit, .out = st };
	const struct elffile *whole = debug ? debug : ef;
	/* A complete .symtab contains all of .dynsym. */
	bool with_dynsym = global_count(whole, SHT_SYMTAB) < global_count(ef, SHT_DYNSYM);

	if (unit == ELFSYM_FROM_TEXT)
		l.text = elfsym_text_start(ef);
	if (debug)
		load_file(&l, debug, false);
	if (elffile_section_count(ef))
		load_file(&l, ef, with_dynsym);
	else
		load_dynamic(&l, ef);
	return l.added;
}

size_t elfsym_load_objects(const struct elffile *ef, const struct elffile *debug, struct symtab *st)
{
	struct loader l = { .image = ef, .unit = ELFSYM_FILE_OFFSET, .out = st, .objects = true };

	if (debug)
		load_file(&l, debug, false);
	load_file(&l, ef, false);
	return l.added;
}

size_t elfsym_load_region(const struct elffile *ef, uint64_t start, struct symtab *st)
{
	struct loader l = { .image = ef, .unit = ELFSYM_FROM_TEXT, .text = start, .out = st };

	load_file(&l, ef, false);
	return l.added;
}
