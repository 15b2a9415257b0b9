/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every row of whole images says what libdw says of that PC: what is here of either machine. */
#include "test.h"

#include "elf/elffile.h"
#include "unwind/unwind.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

struct oracle {
	Dwarf_CFI *cfi;
	const struct unwind_table *table;
	const struct unwind_rule *rules;
	uint64_t rows, compared, wrong;
	GElf_Shdr plt; /* for which we may have rules that libdw does not */
	bool arm;
};

/* The DWARF number of the register that the rule's CFA counts from. */
static uint64_t base_register(const struct oracle *o, const struct unwind_rule *r)
{
	if (r->base == UNWIND_BASE_SP)
		return o->arm ? 31 : 7;
	if (r->base == UNWIND_BASE_FP)
		return o->arm ? 29 : 6;
	return r->base == UNWIND_BASE_BX ? 3 : r->reg;
}

static bool cfa_agrees(const struct oracle *o, const struct unwind_rule *r, Dwarf_Frame *frame)
{
	uint64_t reg;
	int64_t offset;
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_frame_cfa(frame, &ops, &count) < 0 || !count)
		return r->cfa == UNWIND_CFA_NONE;
	if (r->cfa == UNWIND_CFA_INDEX)
		return count > 5 && ops[1].atom == DW_OP_breg0 + r->reg &&
		       (int64_t)ops[0].number == r->cfa_offset &&
		       (int64_t)ops[count - 1].number == r->cfa_add;
	/* Longer ones are beyond our rules. */
	if (r->cfa == UNWIND_CFA_NONE && r->base == UNWIND_WHY_CFA)
		return count > 3;
	if (ops[0].atom == DW_OP_bregx) {
		reg = ops[0].number;
		offset = (int64_t)ops[0].number2;
	} else if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		reg = ops[0].atom - DW_OP_breg0;
		offset = (int64_t)ops[0].number;
	} else {
		return r->cfa == UNWIND_CFA_NONE;
	}
	if (r->cfa == UNWIND_CFA_PLT)
		return count > 1 && reg == 7 && offset == r->cfa_offset;
	if (reg != base_register(o, r) || offset != r->cfa_offset)
		return false;
	if (r->cfa == UNWIND_CFA_DEREF)
		return count > 1 && ops[1].atom == DW_OP_deref &&
		       r->cfa_add == (count > 2 ? (int)ops[2].number : 0);
	return r->cfa == UNWIND_CFA_REG && count == 1;
}

/* Whether register @reg is saved as the rule says, @n in units of 8 bytes. */
static bool save_agrees(Dwarf_Frame *frame, int reg, unsigned int save, int n)
{
	Dwarf_Op memory[3], *ops;
	size_t count;

	if (dwarf_frame_register(frame, reg, memory, &ops, &count) < 0)
		return save == UNWIND_LOST;
	if (!count)
		return save == UNWIND_SAME || save == UNWIND_LOST;
	if (ops[0].atom == DW_OP_call_frame_cfa && ops[count - 1].atom != DW_OP_stack_value) {
		int64_t offset = count > 1 ? (int64_t)ops[1].number : 0;

		return save == UNWIND_AT_CFA ? n * 8 == offset : save == UNWIND_LOST && offset % 8;
	}
	if (save == UNWIND_AT_FP)
		return (int64_t)ops[0].number == n * 8;
	return save == UNWIND_LOST || save == UNWIND_SAME;
}

/* Whether the rule at @pc is what libdw says. */
static bool agrees(const struct oracle *o, uint64_t pc, const struct unwind_rule *r,
		   bool *ret_compared)
{
	_cleanup_free_ Dwarf_Frame *frame = NULL;
	bool is_none = unwind_is_hole(r);

	if (dwarf_cfi_addrframe(o->cfi, o->table->base + pc, &frame) != 0)
		return is_none || r->cfa == UNWIND_CFA_END || r->cfa == UNWIND_CFA_CHILD ||
		       o->table->base + pc - o->plt.sh_addr < o->plt.sh_size;
	*ret_compared = true;
	if (r->cfa == UNWIND_CFA_SIGNAL)
		return true;
	if (r->cfa == UNWIND_CFA_END)
		return save_agrees(frame, o->arm ? 30 : 16, UNWIND_SAME, 0);
	if (!cfa_agrees(o, r, frame))
		return false;
	if (r->cfa == UNWIND_CFA_NONE)
		return true;
	return save_agrees(frame, o->arm ? 30 : 16, UNWIND_SAVE_RA(r->saves), r->ra) &&
	       save_agrees(frame, o->arm ? 29 : 6, UNWIND_SAVE_FP(r->saves), r->fp) &&
	       (o->arm || save_agrees(frame, 3, UNWIND_SAVE_BX(r->saves), r->bx));
}

static void compare_rows(struct oracle *o)
{
	const struct unwind_table *t = o->table;
	size_t page, i;

	for (page = 0; page < t->page_count; page++) {
		for (i = t->pages[page]; i < t->pages[page + 1]; i++) {
			uint64_t pc = (uint64_t)page << UNWIND_PAGE_SHIFT | t->rows[i].pc;
			bool compared = false, ok;

			ok = agrees(o, pc, &o->rules[t->rows[i].rule], &compared);
			o->rows++;
			o->compared += compared;
			if (!ok && o->wrong++ < 5)
				printf("# %s: not so at %#" PRIx64 "\n",
				       t->machine == UNWIND_AARCH64 ? "AArch64" : "x86-64",
				       t->base + pc);
		}
	}
}

/* False if there is no such file. */
static bool compare(const char *path)
{
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	_cleanup_(unwind_table_freep) struct unwind_table *table = NULL;
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	struct oracle o = { NULL };
	struct elf_section plt;
	size_t count;

	if (elffile_open(path, &ef, NULL) < 0)
		return false;
	CHECK_EQ(unwind_table_build(ef, rules, &table, NULL), 0);
	o.cfi = dwarf_getcfi_elf(elffile_elf(ef));
	if (!table || !CHECK(o.cfi != NULL))
		return true;
	if (elffile_find_section(ef, ".plt", &plt))
		o.plt = plt.header;
	o.table = table;
	o.rules = unwind_rules_all(rules, &count);
	o.arm = table->machine == UNWIND_AARCH64;
	compare_rows(&o);
	printf("# %s: %" PRIu64 " rows, %" PRIu64 " that libdw knows\n", path, o.rows, o.compared);
	CHECK(o.compared > 0);
	CHECK_EQ(o.wrong, 0);
	CHECK_EQ(table->bad_fde_count, 0);
	dwarf_cfi_end(o.cfi);
	return true;
}

static void this_machines_images_agree(void)
{
	if (!compare("/proc/self/exe"))
		SKIP("no /proc");
	(void)compare("/lib/x86_64-linux-gnu/libc.so.6");
	(void)compare("/lib64/ld-linux-x86-64.so.2");
	(void)compare("/lib/x86_64-linux-gnu/libcrypto.so.3");
	(void)compare("/lib/aarch64-linux-gnu/libc.so.6");
}

static void aarch64_agrees(void)
{
	if (!compare("/usr/aarch64-linux-gnu/lib/libc.so.6"))
		SKIP("no libraries of AArch64 here (libc6-arm64-cross)");
	(void)compare("/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1");
}

TESTS(T(this_machines_images_agree), T(aarch64_agrees))
