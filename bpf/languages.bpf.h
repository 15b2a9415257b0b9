/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses the walker for an interpreter's language. */
#pragma once

#include "java.bpf.h"
#include "php.bpf.h"
#include "python.bpf.h"
#include "ruby.bpf.h"
#include "script.bpf.h"

/* Reads the frames of the code that the interpreter @i at @bias runs in the thread. */
static __always_inline void read_script(struct run *run, struct unwinding *u, struct script_walk *w,
					const struct interpreter *i, __u64 bias)
{
	w->count = w->bounds_count = w->sent = w->is_full = 0;
	w->bias = bias;
	if (i->kind == INTERPRETER_PYTHON)
		find_python(run, u, w, &i->python, bias);
	else if (i->kind == INTERPRETER_PHP)
		find_php(run, u, w, &i->php, bias);
	else if (i->kind == INTERPRETER_RUBY)
		find_ruby(run, u, w, &i->ruby, bias);
	u->script.count = w->count;
	u->script.bounds = w->bounds_count;
	u->script.is_cut = w->is_full;
	u->script.boundary = w->bounds_count ? w->bounds[0] : 0;
}

/* Stores where the interpreter in @v is, of which the walk has met a frame. */
static __always_inline bool place_interpreter(const struct run *run, const struct unwinding *u,
					      const struct mapping *v, struct script_process *ret)
{
	__u64 address = unwind_lookup_pc(&u->frame), pc;
	__u32 number = v->table;
	const struct sample_table *table = bpf_map_lookup_elem(&tables, &number);

	if (!table || !table_pc(table, address - v->start + v->offset, &pc))
		return false;
	*ret = (struct script_process){ process_key(run), address - pc, v->interpreter,
					run->scratch->tables };
	return true;
}

/* Reads the frames of the code that the interpreter in @v runs in the thread. If @v is NULL, no
 * frame of an interpreter was met: those of the interpreter that an earlier walk has met, because
 * code that it compiled may have no known callers. */
static __noinline int find_script(struct run *run, struct unwinding *u, const struct mapping *v)
{
	const struct interpreter *i;
	struct script_process *p, met;
	struct script_walk *w;
	__u32 slot;

	if (!run || !u)
		return 0;
	u->script.is_read = 1;
	slot = run->slot;
	w = bpf_map_lookup_elem(&script_walks, &slot);
	if (!w || machine_of(u->machine) == UNWIND_I386)
		return 0;
	if (v && !place_interpreter(run, u, v, &met))
		return 0;
	p = &w->processes[process_key(run) >> 58 & (SCRIPT_KNOWN - 1)];
	if (v && java_layout_of(met.interpreter)) {
		/* Its frames are code of their own; another interpreter may follow. */
		u->script.is_read = 0;
		u->script.java = met.interpreter;
		meet_java(run, &met);
		return 0;
	}
	if (v)
		*p = met;
	if (p->key != process_key(run) || p->tables != run->scratch->tables)
		return 0;
	slot = p->interpreter;
	i = bpf_map_lookup_elem(&interpreters, &slot);
	if (i)
		read_script(run, u, w, i, p->bias);
	return 0;
}
