/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/unwind_chain.h"

enum unwind_stop unwind_step(struct unwind_frame *f, const struct unwind_from *from)
{
	const struct unwind_table *table;
	const struct unwind_rule *rule;
	enum unwind_stop stop;
	uint64_t pc;
	size_t count;

	stop = from->find(from->data, unwind_lookup_pc(f), &table, &pc);
	if (stop == UNWIND_NO_ROW)
		return (enum unwind_stop)unwind_by_fp(f, from->read, from->data);
	if (stop)
		return stop;
	rule = &unwind_rules_all(from->rules, &count)[unwind_table_find(table, pc)];
	return (enum unwind_stop)unwind_apply(f, rule, table->machine, from->read, from->reg,
					      from->data);
}

enum unwind_stop unwind_chain(struct unwind_frame *f, const struct unwind_from *from, uint64_t *pcs,
			      size_t max, size_t *ret_count)
{
	enum unwind_stop stop = UNWIND_GOING;
	size_t n = 0;

	while (n < max && !stop) {
		pcs[n++] = f->pc;
		stop = unwind_step(f, from);
	}
	*ret_count = n;
	return stop ? stop : UNWIND_DEPTH;
}

static const struct {
	const char *name, *text;
} stops[] = {
#define X(stop, name, text) [UNWIND_##stop] = { #name, text },
	UNWIND_STOPS(X)
#undef X
};

const char *unwind_stop_name(enum unwind_stop stop)
{
	return stops[stop].name;
}

const char *unwind_stop_text(enum unwind_stop stop)
{
	return stops[stop].text;
}
