/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/unwind_chain.h"

enum chain_end unwind_step(struct unwind_frame *f, const struct unwind_from *from)
{
	const struct unwind_table *table;
	const struct unwind_rule *rule;
	enum chain_end stop;
	uint64_t pc;
	size_t count;

	stop = from->find(from->data, unwind_lookup_pc(f), &table, &pc);
	if (stop == CHAIN_END_NO_RULE)
		return (enum chain_end)unwind_by_fp(f, from->read, from->data);
	if (stop != CHAIN_GOES_ON)
		return stop;
	rule = &unwind_rules_all(from->rules, &count)[unwind_table_find(table, pc)];
	return (enum chain_end)unwind_apply(f, rule, table->machine, from->read, from->reg,
					    from->data);
}

enum chain_end unwind_chain(struct unwind_frame *f, const struct unwind_from *from, uint64_t *pcs,
			    size_t max, size_t *ret_count)
{
	enum chain_end stop = CHAIN_GOES_ON;
	size_t n = 0;

	while (n < max && stop == CHAIN_GOES_ON) {
		pcs[n++] = f->pc;
		stop = unwind_step(f, from);
	}
	*ret_count = n;
	return stop != CHAIN_GOES_ON ? stop : CHAIN_END_DEPTH;
}
