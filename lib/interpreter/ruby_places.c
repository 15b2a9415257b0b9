/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "interpreter/ruby_places.h"

#include "base/macro.h"
#include "base/mem.h"
#include "base/span.h"
#include "elf/elffile.h"

#include <dwarf.h>

enum {
	LARGE_BYTES = 8192, /* functions are smaller, except loops of interpreters */
	SEARCHED_BYTES = 1 << 16,
	CALL = 0xe8,
	JUMP = 0xe9,
	JUMP_SHORT = 0xeb,
	TARGETS_MAX = 16,
	DISPATCHES = 100,  /* indirect jumps: more are in a loop that runs instructions */
	LEVELS = 5,	   /* of calls, */
	REACHED_MAX = 64,  /* and functions, that are searched for the loop */
	NAMES_OFFSET = 16, /* of what the table of Symbols has the names in */
};

/* The index of functions in .eh_frame_hdr. */
struct functions {
	uint64_t address;  /* which starts are relative to */
	struct span pairs; /* start and FDE, 4 bytes each */
};

static bool open_functions(const struct elffile *ef, struct functions *ret)
{
	struct elf_section section;
	const Elf_Data *data;
	const uint8_t *head;
	uint32_t count;
	struct span in;

	if (!elffile_find_section(ef, ".eh_frame_hdr", &section) ||
	    !(data = elffile_data(&section)))
		return false;
	in = span_of(data->d_buf, data->d_buf ? data->d_size : 0);
	head = span_take(&in, 8);
	if (!head || head[0] != 1 || head[2] != DW_EH_PE_udata4 ||
	    head[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4) || span_u32(&in, &count) < 0 ||
	    count > in.left / 8)
		return false;
	*ret = (struct functions){ section.header.sh_addr, span_of(in.at, (size_t)count * 8) };
	return true;
}

static uint64_t start_of(const struct functions *f, size_t i)
{
	return f->address + (uint64_t)(int64_t)(int32_t)get_le32(f->pairs.at + i * 8);
}

/* The function that begins at @address, up to the next one. */
static struct ruby_extent function_at(const struct functions *f, uint64_t address)
{
	size_t count = f->pairs.left / 8;
	size_t at = FIRST_NOT(i, 0, count, start_of(f, i) < address);

	if (at + 1 >= count || start_of(f, at) != address)
		return (struct ruby_extent){ 0, 0 };
	return (struct ruby_extent){ address, start_of(f, at + 1) - address };
}

/* The bytes of the code at @start, which may be fewer. */
static struct span code_at(const struct elffile *ef, uint64_t start, uint64_t bytes)
{
	const void *code;
	uint64_t offset;

	bytes = MIN(bytes, (uint64_t)SEARCHED_BYTES);
	if (elffile_header(ef)->e_machine != EM_X86_64 || !elffile_offset(ef, start, &offset))
		return span_of(NULL, 0);
	code = elffile_bytes(ef, offset, bytes);
	return span_of(code, code ? (size_t)bytes : 0);
}

/* What is @displacement bytes after byte @i of the code, whose address is @start. */
static uint64_t target_at(uint64_t start, const struct span *code, size_t i)
{
	return start + i + 4 + (uint64_t)(int64_t)(int32_t)get_le32(code->at + i);
}

/* The function that the instruction at byte @i of the code, whose address is @start, would call or
 * jump to, if one begins there. */
static struct ruby_extent callee_at(const struct functions *f, uint64_t start,
				    const struct span *code, size_t i)
{
	const uint8_t opcode = code->at[i];

	if (opcode == JUMP_SHORT && i + 2 <= code->left)
		return function_at(f, start + i + 2 + (uint64_t)(int64_t)(int8_t)code->at[i + 1]);
	if ((opcode != CALL && opcode != JUMP) || i + 5 > code->left)
		return (struct ruby_extent){ 0, 0 };
	return function_at(f, target_at(start, code, i + 1));
}

struct ruby_extent ruby_places_callee(const struct elffile *ef, uint64_t start, uint64_t bytes)
{
	const struct span code = code_at(ef, start, bytes);
	struct ruby_extent largest = { 0, 0 }, callee;
	struct functions f;
	size_t i;

	if (!open_functions(ef, &f))
		return largest;
	for (i = 0; i < code.left; i++) {
		callee = callee_at(&f, start, &code, i);
		if (callee.bytes >= LARGE_BYTES && callee.bytes > largest.bytes)
			largest = callee;
	}
	return largest;
}

/* Whether it is a loop that runs instructions: large, and each ends with an indirect jump. */
static bool is_loop(const struct elffile *ef, const struct ruby_extent *f)
{
	const struct span code =
		f->bytes >= LARGE_BYTES ? code_at(ef, f->start, f->bytes) : span_of(NULL, 0);
	size_t i, jumps = 0;

	/* jmp by a register or memory, but not one relative to the address: as in a PLT. */
	for (i = 0; i + 1 < code.left; i++)
		jumps += code.at[i] == 0xff && (code.at[i + 1] & 0x38) == 0x20 &&
			 code.at[i + 1] != 0x25;
	return jumps >= DISPATCHES;
}

/* Functions in the order in which they were reached. */
struct reached {
	struct ruby_extent all[REACHED_MAX];
	size_t count;
};

/* Returns whether it is new, and there is room. */
static bool reach(struct reached *r, const struct ruby_extent *f)
{
	size_t i;

	for (i = 0; i < r->count; i++)
		if (r->all[i].start == f->start)
			return false;
	if (r->count == ARRAY_SIZE(r->all))
		return false;
	r->all[r->count++] = *f;
	return true;
}

/* Adds what @caller calls. Returns whether one of them is the loop, stored in *@ret. */
static bool reach_callees(const struct elffile *ef, const struct functions *f,
			  const struct ruby_extent *caller, struct reached *r,
			  struct ruby_extent *ret)
{
	const struct span code = code_at(ef, caller->start, caller->bytes);
	struct ruby_extent callee;
	size_t i;

	for (i = 0; i < code.left; i++) {
		callee = callee_at(f, caller->start, &code, i);
		if (!callee.bytes || !reach(r, &callee) || !is_loop(ef, &callee))
			continue;
		*ret = callee;
		return true;
	}
	return false;
}

bool ruby_places_loop(const struct elffile *ef, uint64_t start, uint64_t bytes,
		      struct ruby_extent *ret_loop, struct ruby_extent *ret_core)
{
	_cleanup_free_ struct reached *r = xcalloc(1, sizeof(*r));
	size_t i = 0, level, end;
	struct functions f;

	if (!start || !open_functions(ef, &f))
		return false;
	(void)reach(r, &(struct ruby_extent){ start, bytes });
	for (level = 0; level < LEVELS; level++) {
		for (end = r->count; i < end; i++) {
			if (!reach_callees(ef, &f, &r->all[i], r, ret_core))
				continue;
			*ret_loop = r->all[i];
			return true;
		}
	}
	return false;
}

bool ruby_places_variable(const struct elffile *ef, uint64_t start, uint64_t bytes, uint64_t *ret)
{
	const struct span code = code_at(ef, start, bytes);
	size_t i;

	/* call __tls_get_addr; mov OFFSET(%rax), REGISTER */
	for (i = 0; i + 12 <= code.left; i++) {
		const uint8_t *at = code.at + i;

		if (at[0] != CALL || at[5] != 0x48 || at[6] != 0x8b)
			continue;
		if ((at[7] & 0xc7) != 0x40 && (at[7] & 0xc7) != 0x80)
			return false;
		*ret = (at[7] & 0xc7) == 0x40 ? at[8] : get_le32(at + 8);
		return true;
	}
	return false;
}

/* Whether @address is one of variables. */
static bool is_variable(const struct elffile *ef, uint64_t address)
{
	struct elf_section section;
	size_t i;

	for (i = 0; i < elffile_section_count(ef); i++)
		if (elffile_section(ef, i, &section) && section.header.sh_flags & SHF_WRITE &&
		    !(section.header.sh_flags & SHF_TLS) &&
		    address - section.header.sh_addr < section.header.sh_size)
			return !strcmp(section.name, ".data") || !strcmp(section.name, ".bss");
	return false;
}

/* The variable to whose first and third word the code refers; 0: none. */
static uint64_t table_of(const struct elffile *ef, const struct ruby_extent *function)
{
	const struct span code = code_at(ef, function->start, function->bytes);
	uint64_t seen[TARGETS_MAX], target;
	size_t count = 0, i, k;

	for (i = 0; i + 4 <= code.left && count < ARRAY_SIZE(seen); i++) {
		target = target_at(function->start, &code, i);
		if (!is_variable(ef, target))
			continue;
		for (k = 0; k < count; k++) {
			if (target == seen[k] + NAMES_OFFSET)
				return seen[k];
			if (target + NAMES_OFFSET == seen[k])
				return target;
		}
		seen[count++] = target;
	}
	return 0;
}

uint64_t ruby_places_symbols(const struct elffile *ef, uint64_t start, uint64_t bytes)
{
	const struct ruby_extent self = { start, bytes };
	const struct span code = code_at(ef, start, bytes);
	struct ruby_extent callee;
	struct functions f;
	uint64_t found = table_of(ef, &self);
	size_t i;

	if (!open_functions(ef, &f))
		return found;
	for (i = 0; !found && i < code.left; i++) {
		callee = callee_at(&f, start, &code, i);
		found = callee.bytes ? table_of(ef, &callee) : 0;
	}
	return found;
}

/* Whether the symbol @index of the section that @relocations refer to is of this file; there is
 * none for local variables. */
static bool is_own(const struct elffile *ef, const struct elf_section *relocations, size_t index)
{
	struct elf_section symbols;
	const Elf_Data *data;
	GElf_Sym symbol;

	if (!index)
		return true;
	return elffile_section(ef, relocations->header.sh_link, &symbols) &&
	       (data = elffile_data(&symbols)) &&
	       gelf_getsym((Elf_Data *)data, (int)index, &symbol) && symbol.st_shndx != SHN_UNDEF;
}

static uint64_t module_in(const struct elffile *ef, const struct elf_section *section)
{
	const Elf_Data *data = elffile_data(section);
	GElf_Rela rela;
	int i;

	for (i = 0; data && gelf_getrela((Elf_Data *)data, i, &rela); i++)
		if (GELF_R_TYPE(rela.r_info) == R_X86_64_DTPMOD64 &&
		    is_own(ef, section, GELF_R_SYM(rela.r_info)))
			return rela.r_offset;
	return 0;
}

uint64_t ruby_places_module(const struct elffile *ef)
{
	struct elf_section section;
	uint64_t found = 0;
	size_t i;

	if (elffile_header(ef)->e_machine != EM_X86_64)
		return 0;
	for (i = 0; !found && i < elffile_section_count(ef); i++)
		if (elffile_section(ef, i, &section) && section.header.sh_type == SHT_RELA)
			found = module_in(ef, &section);
	return found;
}
