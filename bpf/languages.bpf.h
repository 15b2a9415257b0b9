/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses the walker for an interpreter's language. */
#pragma once

#include "php.bpf.h"
#include "python.bpf.h"
#include "script.bpf.h"

/* Reads the frames of the code that the interpreter in @v runs in the thread. */
static __noinline int find_script(struct run *run, struct unwinding *u, const struct mapping *v)
{
	const struct sample_table *table;
	const struct interpreter *i;
	struct script_walk *w;
	__u64 address, pc;
	__u32 number;

	if (!run || !u || !v)
		return 0;
	u->script.is_read = 1;
	number = v->table;
	table = bpf_map_lookup_elem(&tables, &number);
	number = v->interpreter;
	i = bpf_map_lookup_elem(&interpreters, &number);
	number = run->slot;
	w = bpf_map_lookup_elem(&script_walks, &number);
	address = unwind_lookup_pc(&u->frame);
	if (!table || !i || !w || machine_of(u->machine) == UNWIND_I386 ||
	    !table_pc(table, address - v->start + v->offset, &pc))
		return 0;
	w->count = w->bounds_count = w->sent = w->is_full = 0;
	if (i->kind == INTERPRETER_PYTHON)
		find_python(run, u, w, &i->python, address - pc);
	else if (i->kind == INTERPRETER_PHP)
		find_php(run, u, w, &i->php, address - pc);
	u->script.count = w->count;
	u->script.bounds = w->bounds_count;
	u->script.is_cut = w->is_full;
	u->script.boundary = w->bounds_count ? w->bounds[0] : 0;
	return 0;
}
