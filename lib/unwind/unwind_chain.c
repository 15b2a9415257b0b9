/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/unwind_chain.h"

/* Unwinds code of which @rule, a hole, says nothing by a guess. Returns @why if that leads nowhere.
 */
static enum chain_end leave_by_guess(struct unwind_frame *f, const struct unwind_from *from,
				     struct unwind_rule rule, enum chain_end why)
{
	const struct unwind_table *table;
	uint64_t pc;

	unwind_guess(f, from->machine, from->read, from->code, from->data, &rule);
	if (unwind_apply(f, &rule, from->machine, from->read, from->reg, from->data) !=
		    CHAIN_GOES_ON ||
	    from->find(from->data, unwind_lookup_pc(f), &table, &pc) == CHAIN_END_NO_MAPPING)
		return why;
	return CHAIN_GOES_ON;
}

/* Whether the caller could not be read because it is on another stack: a copy is of one. */
static bool is_on_other_stack(const struct unwind_rule *rule, enum chain_end stop)
{
	return rule->cfa == UNWIND_CFA_STACK &&
	       (stop == CHAIN_END_UNREADABLE || stop == CHAIN_END_COPY_SHORT);
}

enum chain_end unwind_step(struct unwind_frame *f, const struct unwind_from *from)
{
	const struct unwind_table *table;
	const struct unwind_rule *rule;
	enum chain_end stop;
	uint64_t pc;
	size_t count;

	stop = from->find(from->data, unwind_lookup_pc(f), &table, &pc);
	if (stop == CHAIN_END_NO_RULE || stop == CHAIN_END_NO_TABLE)
		return leave_by_guess(f, from, (struct unwind_rule){ .cfa = UNWIND_CFA_NONE },
				      stop);
	if (stop != CHAIN_GOES_ON)
		return stop;
	rule = &unwind_rules_all(from->rules, &count)[unwind_table_find(table, pc)];
	if (unwind_is_hole(rule))
		return leave_by_guess(f, from, *rule, CHAIN_END_NO_RULE);
	stop = (enum chain_end)unwind_apply(f, rule, from->machine, from->read, from->reg,
					    from->data);
	return is_on_other_stack(rule, stop) ? CHAIN_END_COMPLETE : stop;
}

enum chain_end unwind_chain(struct unwind_frame *f, const struct unwind_from *from, uint64_t *pcs,
			    size_t max, size_t *ret_count)
{
	enum chain_end stop = CHAIN_GOES_ON;
	size_t n = 0;

	while (n < max && stop == CHAIN_GOES_ON) {
		const struct unwind_frame frame = *f;

		stop = unwind_step(f, from);
		pcs[n++] = unwind_chain_address(&frame, stop == CHAIN_GOES_ON && f->exact);
	}
	*ret_count = n;
	return stop != CHAIN_GOES_ON ? stop : CHAIN_END_DEPTH;
}
