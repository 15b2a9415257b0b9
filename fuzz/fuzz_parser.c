/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers of the parser process after an attacker has taken it over. The first byte selects the
 * kind of request. */
#include "fuzz.h"

#include "jit/jit.h"
#include "parser/internal/parser_wire.h"
#include "unwind/unwind.h"

#include <stdlib.h>
#include <string.h>

static void take_table(struct span in)
{
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	_cleanup_(unwind_table_freep) struct unwind_table *table = NULL;
	uint64_t pc;
	size_t i, count;

	if (parser_take_table(in, rules, &table) < 0)
		return;
	(void)unwind_rules_all(rules, &count);
	for (i = 0; i < 1 << 20; i += 997)
		if (unwind_table_find(table, i) >= count ||
		    (unwind_table_pc(table, i, &pc) && unwind_table_find(table, pc) >= count))
			abort();
}

static void take_jit(struct span in)
{
	_cleanup_(jit_freep) struct jit *j = jit_new();
	struct jit_source_state state;
	struct jit_sink sink;
	struct error err;
	int64_t n;

	jit_sink_of(j, &sink);
	(void)parser_take_jit(in, &sink, &state, &n, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct build_id id;
	uint8_t *copy;

	if (!size)
		return 0;
	/* As aligned as an answer is. */
	copy = malloc(size);
	memcpy(copy, data + 1, size - 1);
	if (data[0] == PARSER_TABLE)
		take_table(span_of(copy, size - 1));
	else if (data[0] == PARSER_JIT)
		take_jit(span_of(copy, size - 1));
	else
		(void)parser_take_build_id(span_of(copy, size - 1), &id);
	free(copy);
	return 0;
}
