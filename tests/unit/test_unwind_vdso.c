/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/unwind/unwind_vdso.c: the unwind tables of the vdso of 64-bit and of 32-bit processes. */
#include "test.h"

#include "elf/vdso.h"
#include "unwind/unwind.h"
#include "unwind/unwind_vdso.h"

#include <errno.h>

static void the_vdso_has_a_table(void)
{
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	_cleanup_(unwind_table_freep) struct unwind_table *table = NULL;

	if (!vdso_image())
		SKIP("this process has no vdso");
	CHECK_EQ(unwind_vdso_table(false, rules, &table), 0);
	CHECK(table && table->row_count > 0 && table->machine != UNWIND_I386);
}

/* Its code saves the registers of system calls, and returns from signals. */
static void that_of_32_bit_programs_has_another(void)
{
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	_cleanup_(unwind_table_freep) struct unwind_table *table = NULL;
	const struct unwind_rule *all;
	bool saves = false, returns = false;
	size_t i, count;
	int r = unwind_vdso_table(true, rules, &table);

	if (r == -ENODATA)
		SKIP("this kernel maps no vdso of 32-bit programs");
	CHECK_EQ(r, 0);
	CHECK(table && table->machine == UNWIND_I386);
	all = unwind_rules_all(rules, &count);
	for (i = 0; i < count; i++) {
		saves = saves || (all[i].cfa == UNWIND_CFA_REG && all[i].cfa_offset == 16);
		returns = returns || all[i].cfa == UNWIND_CFA_SIGNAL;
	}
	CHECK(saves && returns);
}

TESTS(T(the_vdso_has_a_table), T(that_of_32_bit_programs_has_another))
