/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses the walker for an interpreter's language. */
#pragma once

#include "java.bpf.h"
#include "php.bpf.h"
#include "python.bpf.h"
#include "ruby.bpf.h"
#include "script.bpf.h"

/* The interpreter that meet_script() has found for the walk; NULL if there is none. */
static __always_inline const struct interpreter *met_interpreter(const struct script_walk *w)
{
	__u32 number = w ? w->interpreter : 0;

	return bpf_map_lookup_elem(&interpreters, &number);
}

/* Read the frames of the code that the interpreter runs in the thread, for a sample that counts
 * @loss. A function for each language, because the stack has no room for what all need. */
__noinline int read_python(struct unwinding *u, __u32 slot, __u64 loss)
{
	struct script_walk *w = bpf_map_lookup_elem(&script_walks, &slot);
	const struct interpreter *i = met_interpreter(w);
	struct run run;

	if (u && w && i && run_again(&run, slot, loss))
		find_python(&run, u, w, &i->python, w->bias);
	return 0;
}

__noinline int read_php(struct unwinding *u, __u32 slot, __u64 loss)
{
	struct script_walk *w = bpf_map_lookup_elem(&script_walks, &slot);
	const struct interpreter *i = met_interpreter(w);
	struct run run;

	if (u && w && i && run_again(&run, slot, loss))
		find_php(&run, u, w, &i->php, w->bias);
	return 0;
}

__noinline int read_ruby(struct unwinding *u, __u32 slot, __u64 loss)
{
	struct script_walk *w = bpf_map_lookup_elem(&script_walks, &slot);
	const struct interpreter *i = met_interpreter(w);
	struct run run;

	if (u && w && i && run_again(&run, slot, loss))
		find_ruby(&run, u, w, &i->ruby, w->bias);
	return 0;
}

/* Makes the chain take the frames of the walk in @slot from now on, the innermost first. */
__noinline int begin_script(struct unwinding *u, __u32 slot)
{
	const struct script_walk *w = bpf_map_lookup_elem(&script_walks, &slot);

	if (!u || !w)
		return 0;
	u->script.count = w->count;
	u->script.bounds = w->bounds_count;
	u->script.is_cut = w->is_full;
	u->script.boundary = w->bounds_count ? w->bounds[0] : 0;
	return 0;
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

/* Finds the interpreter in @v. If that is NULL, no frame of an interpreter was met: finds the one
 * that an earlier walk has met, because code that it compiled may have no known callers. Returns
 * its enum interpreter_kind; 0 if there is none. */
static __noinline int meet_script(struct run *run, struct unwinding *u, const struct mapping *v)
{
	struct script_process *p, met;
	const struct interpreter *i;
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
	w->interpreter = p->interpreter;
	w->bias = p->bias;
	w->count = w->bounds_count = w->sent = w->is_full = 0;
	i = met_interpreter(w);
	return i ? (int)i->kind : 0;
}

/* Reads the frames of the code that the interpreter in @v, as in meet_script(), runs in the thread.
 */
static __always_inline void find_script(struct run *run, struct unwinding *u,
					const struct mapping *v)
{
	int kind = meet_script(run, u, v);

	if (kind == INTERPRETER_PYTHON)
		read_python(u, run->slot, run->loss);
	else if (kind == INTERPRETER_PHP)
		read_php(u, run->slot, run->loss);
	else if (kind == INTERPRETER_RUBY)
		read_ruby(u, run->slot, run->loss);
	else
		return;
	begin_script(u, run->slot);
}
