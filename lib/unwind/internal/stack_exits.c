/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/internal/stack_exits.h"

#include "base/macro.h"
#include "elf/elf_exports.h"
#include "elf/elffile.h"

#include <string.h>

enum { CALL = 0xe8, CALL_BYTES = 5, MOVE_MAX = 3, INDIRECT_BYTES = 2 };

static const char *const names[] = { "exit", "pthread_exit" };

static_assert(ARRAY_SIZE(names) == STACK_EXITS_MAX, "one address each");

static bool has_loader(const struct elffile *ef)
{
	size_t i, count = 0;
	GElf_Phdr ph;

	if (elf_getphdrnum(elffile_elf(ef), &count) < 0)
		return false;
	for (i = 0; i < count; i++)
		if (gelf_getphdr(elffile_elf(ef), (int)i, &ph) && ph.p_type == PT_INTERP)
			return true;
	return false;
}

static bool may_export_any(const struct elffile *ef)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (elf_exports_may_have(ef, names[i]))
			return true;
	return false;
}

static void look_at_table(const struct elffile *ef, const struct elf_section *table,
			  struct stack_exits *ret)
{
	Elf_Data *data = (Elf_Data *)elffile_data(table);
	const char *name;
	GElf_Sym symbol;
	size_t k;
	int i;

	for (i = 0; data && i < ELFFILE_SYMBOLS_MAX && gelf_getsym(data, i, &symbol); i++) {
		if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
			continue;
		name = elffile_string(ef, table->header.sh_link, symbol.st_name);
		for (k = 0; name && k < ARRAY_SIZE(names); k++)
			if (*name == *names[k] && !strcmp(name, names[k]))
				ret->address[k] = symbol.st_value;
	}
}

bool stack_exits_find(const struct elffile *ef, enum unwind_machine machine,
		      struct stack_exits *ret)
{
	struct elf_section section;
	size_t i;

	*ret = (struct stack_exits){ { 0 } };
	/* A library that needs others is no C library, unless it exports these. */
	if (machine != UNWIND_X86_64 || has_loader(ef) ||
	    (elf_exports_needs_others(ef) && !may_export_any(ef)))
		return false;
	for (i = 0; i < elffile_section_count(ef); i++)
		if (elffile_section(ef, i, &section) &&
		    (section.header.sh_type == SHT_DYNSYM || section.header.sh_type == SHT_SYMTAB))
			look_at_table(ef, &section, ret);
	return ret->address[0] || ret->address[1];
}

/* The size of the instruction before @end that hands on the result of a call, or 0: mov %eax, %edi;
 * mov %rax, %rdi; movslq %eax, %rdi. */
static size_t move_before(const uint8_t *end)
{
	if (end[-2] == 0x89 && end[-1] == 0xc7)
		return end[-3] == 0x48 ? 3 : 2;
	return end[-3] == 0x48 && end[-2] == 0x63 && end[-1] == 0xf8 ? 3 : 0;
}

/* Whether the two bytes before @end are call *%register, or call *(%register). */
static bool is_indirect_call(const uint8_t *end)
{
	uint8_t operand = end[-1], reg = operand & 7;

	return end[-2] == 0xff &&
	       ((operand & 0xf8) == 0xd0 || ((operand & 0xf8) == 0x10 && reg != 4 && reg != 5));
}

static bool is_exit(const struct stack_exits *exits, uint64_t target)
{
	size_t i;

	for (i = 0; i < STACK_EXITS_MAX; i++)
		if (exits->address[i] && exits->address[i] == target)
			return true;
	return false;
}

bool stack_exits_next(const struct stack_exits *exits, struct span *code, uint64_t *address,
		      uint64_t *ret_start, uint64_t *ret_bytes)
{
	const uint8_t *begin = code->at, *at;
	size_t done = MOVE_MAX + INDIRECT_BYTES, move;
	uint64_t call, target;

	while (done + CALL_BYTES <= code->left &&
	       (at = memchr(begin + done, CALL, code->left - done - CALL_BYTES + 1))) {
		done = (size_t)(at - begin) + 1;
		call = *address + done - 1;
		target = call + CALL_BYTES + (uint64_t)(int64_t)(int32_t)get_le32(at + 1);
		move = is_exit(exits, target) ? move_before(at) : 0;
		if (!move || !is_indirect_call(at - move))
			continue;
		*ret_start = call - move - 1;
		*ret_bytes = move + 1 + CALL_BYTES;
		*code = span_of(begin + done, code->left - done);
		*address += done;
		return true;
	}
	return false;
}
