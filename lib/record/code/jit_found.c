/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that was found in the memory of a process. */
#include "record/code/jit_reader.h"

#include "jit/jit.h"
#include "record/code/internal/jit_reader_state.h"

enum { EARLY_MAX = 8192 }; /* pieces of code of a process */

void jit_process_find(struct jit_process *p, const struct jit_code *code)
{
	p->in_memory = true;
	if (p->known) {
		if (!jit_process_is_exact(p))
			jit_process_add(p, code);
		return;
	}
	p->found_early = p->found_early ?: jit_new();
	if (jit_count(p->found_early) < EARLY_MAX)
		jit_load(p->found_early, code);
	else
		p->reader->stats.jit_dropped++;
}

bool jit_process_needs_search(const struct jit_process *p)
{
	return p->in_memory && !jit_process_is_exact(p);
}

bool jit_process_expects(const struct jit_process *p, uint64_t address)
{
	return p->found_early && jit_find(p->found_early, address, JIT_FOREVER - 1);
}

void jit_process_add_early(struct jit_process *p)
{
	size_t i;

	for (i = 0; p->found_early && i < jit_count(p->found_early); i++)
		if (!jit_process_is_exact(p))
			jit_process_add(p, jit_at(p->found_early, i));
	jit_free(p->found_early);
	p->found_early = NULL;
}
