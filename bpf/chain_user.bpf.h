/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of a call chain that is in user space: walks the stack with the unwind tables of the
 * images, or by frame pointers, and adds each caller's file and offset to the chain.
 */
#pragma once

#include "arch.bpf.h"
#include "java.bpf.h"
#include "languages.bpf.h"
#include "mapping.bpf.h"
#include "rule.bpf.h"
#include "script.bpf.h"
#include "stack.bpf.h"
#include "unwinding.bpf.h"

struct chain_run {
	struct run *run;
	struct unwinding *u;
};

/* Adds a frame to the chain: struct sample_frame. Returns false if the chain is full. */
static __always_inline bool append_words(struct unwinding *u, __u64 place_offset, __u64 first,
					 __u64 second)
{
	struct sample_chain *chain = &u->chain;
	__u32 at = chain->words;

	if (!u->left || at > SAMPLE_CHAIN_WORDS - SAMPLE_FRAME_WORDS)
		return false;
	u->left--;
	chain->data[at] = place_offset;
	chain->data[at + 1] = first;
	chain->data[at + 2] = second;
	chain->words = at + SAMPLE_FRAME_WORDS;
	chain->id = mix(mix(mix(chain->id, place_offset), first), second);
	return true;
}

/* Adds a frame's address, which is in @v, to the chain. Returns false if the chain is full. */
static __always_inline bool append_frame(struct run *run, struct unwinding *u,
					 const struct mapping *v, __u64 address)
{
	struct sample_chain *chain = &u->chain;
	__u64 word = address - v->start + v->offset;

	word |= (__u64)v->place << SAMPLE_FRAME_PLACE_SHIFT;
	if (!append_words(u, word, v->image.region.start, v->image.region.end))
		return false;
	/* Only regions depend on the process: callers in files get one number in all processes. */
	if (v->place == SAMPLE_FILE)
		return true;
	chain->id = mix(chain->id, chain->tgid);
	if (v->place != SAMPLE_VDSO && v->place != SAMPLE_VDSO_32)
		run->scratch->memory = 1;
	return true;
}

/* Adds the frame of the interpreted function @id to the chain. Returns false if that is full. */
static __always_inline bool append_function(struct unwinding *u, __u64 id, __u64 at)
{
	at |= (__u64)SAMPLE_CODE_OBJECT << SAMPLE_FRAME_PLACE_SHIFT;
	return append_words(u, at, id, 0);
}

/* Makes the sample count at the interpreted function @id. */
static __always_inline void count_function(struct run *run, __u64 id, __u64 at)
{
	run->scratch->key.place = SAMPLE_CODE_OBJECT;
	run->scratch->key.offset = at;
	run->scratch->key.image.region = (struct sample_region){ id, 0 };
}

/* Looks for the rule of code in memory that a process generated, with what it wrote about it, or
 * what Java's virtual machine has in memory. Not part of go_to_caller(), because that needs much
 * stack, too. */
static __always_inline void find_generated(struct run *run, struct unwinding *u,
					   const struct mapping *v)
{
	u->generated = CHAIN_END_UNKNOWN;
	u->is_java = 0;
	u->script.method = 0;
	if (config.by_frame_pointers || is_image(v))
		return;
	if (look_up_code(&u->rule, unwind_lookup_pc(&u->frame), run->task->tgid) == CHAIN_GOES_ON) {
		u->generated = CHAIN_GOES_ON;
		correct_java_rule(run, u);
	} else if (config.interpreters && v->place == SAMPLE_ANON) {
		know_java(run, u);
		u->generated = java_rule(u, run->slot, run->loss);
		u->is_java = u->generated == CHAIN_GOES_ON;
	}
}

/* Replaces the frame by its caller's, according to @u->rule, or a guess where there is none; then
 * @u->astray is @why. Returns CHAIN_GOES_ON, or why there is no caller. */
__noinline __u32 apply_rule(struct unwinding *u, __u32 why)
{
	struct unwind_frame frame;
	__u32 end;

	if (!u)
		return CHAIN_END_NO_RULE;
	frame = u->frame;
	u->astray = CHAIN_END_NO_MAPPING;
	if (unwind_is_hole(&u->rule)) {
		unwind_guess(&frame, machine_of(u->machine), read_stack, read_code, u, &u->rule);
		u->astray = why;
	}
	end = unwind_apply(&frame, &u->rule, machine_of(u->machine), read_stack, read_register, u);
	u->frame = frame;
	return end;
}

/* Replaces the frame by its caller's, according to its rule or a guess. Returns CHAIN_GOES_ON, or
 * why there is no caller. Not inlined: its stack frame would be added to those of the functions
 * that look up a mapping, and all that are nested may not exceed 512 bytes together. */
static __noinline __u32 go_to_caller(struct run *run, struct unwinding *u, const struct mapping *v)
{
	__u32 why = config.by_frame_pointers ? CHAIN_END_FP_END : CHAIN_END_NO_CODE, end;
	const struct unwind_rule *rule = NULL;

	if (!config.by_frame_pointers && is_image(v)) {
		why = CHAIN_END_NO_RULE;
		rule = find_rule(run, u, v, unwind_lookup_pc(&u->frame), &why);
		if (!rule && why != CHAIN_END_NO_RULE && why != CHAIN_END_NO_TABLE)
			return why;
	} else if (u->generated == CHAIN_GOES_ON) {
		rule = &u->rule;
	} else if (u->generated != CHAIN_END_UNKNOWN) {
		return u->generated;
	}
	u->rule = rule ? *rule : (struct unwind_rule){ .cfa = UNWIND_CFA_NONE };
	end = apply_rule(u, rule ? CHAIN_END_NO_RULE : why);
	if (u->is_java && (end != CHAIN_GOES_ON || !is_in_java(run, u)))
		return CHAIN_END_NO_CODE;
	if (end != CHAIN_GOES_ON && u->astray != CHAIN_END_NO_MAPPING)
		return u->astray;
	return end;
}

/* Puts the next interpreted frame into the chain, or makes the sample count at it. Returns 1 at the
 * end of the chain. */
static __noinline int put_script(struct run *run, struct unwinding *u)
{
	struct script_frame frame;

	if (!run || !u)
		return 1;
	if (!next_script(&u->script, run->slot, &frame)) {
		if (u->script.puts == SCRIPT_PUTS_REST)
			return u->script.next >= u->script.count;
		u->script.puts = SCRIPT_PUTS_NONE;
		return u->script.is_cut && u->script.next >= u->script.count;
	}
	if (u->script.puts == SCRIPT_PUTS_SAMPLE) {
		u->script.puts = SCRIPT_PUTS_CALLER;
		count_function(run, frame.id, frame.at);
		return 0;
	}
	if (append_function(u, frame.id, frame.at))
		return 0;
	u->end = CHAIN_END_DEPTH;
	return 1;
}

/* Puts the frame at @address, which is in @v, into the chain, or the method that Java interprets
 * there; the first one is the sample. Returns false if the chain is full. */
static __always_inline bool put_frame(struct run *run, struct unwinding *u, const struct mapping *v,
				      __u64 address)
{
	const struct script_state *s = &u->script;

	if (!u->append && s->method)
		count_function(run, s->method, s->method_at);
	if (!u->append)
		return true;
	return s->method ? append_function(u, s->method, s->method_at)
			 : append_frame(run, u, v, address);
}

/* Whether the chain ends at a frame of the C stack that has no known caller, so that only the
 * interpreted frames go on. */
static __always_inline bool has_only_script(const struct unwinding *u)
{
	return u->script.next < u->script.count && u->end != CHAIN_END_COMPLETE &&
	       u->end != CHAIN_END_DEPTH;
}

/* Ends the walk of the C stack, for chain_step(). */
static __always_inline long end_user(struct chain_run *c)
{
	struct unwinding *u = c->u;

	if (u->end != CHAIN_END_COMPLETE && config.interpreters && !u->script.is_read)
		find_script(c->run, u, NULL);
	u->script.puts = SCRIPT_PUTS_REST;
	return !has_only_script(u);
}

/* Handles one frame, for bpf_loop(): returns 1 at the end of the chain. */
static long chain_step(__u32 index, struct chain_run *c)
{
	struct unwinding *u = c->u;
	struct unwind_frame frame;
	struct mapping *v;
	__u64 address;

	if (u->script.puts)
		return put_script(c->run, u);
	v = mapping_at(c->run, unwind_lookup_pc(&u->frame));
	frame = u->frame;
	if (!v) {
		u->end = u->astray;
		return end_user(c);
	}
	if (v->interpreter && config.interpreters && !u->script.is_read &&
	    v->interpreter != u->script.java)
		find_script(c->run, u, v);
	find_generated(c->run, u, v);
	u->end = go_to_caller(c->run, u, v);
	if (u->end == CHAIN_GOES_ON &&
	    runs_script(&u->script, frame.pc, frame.sp, u->frame.sp, !u->append))
		u->script.puts = u->append ? SCRIPT_PUTS_CALLER : SCRIPT_PUTS_SAMPLE;
	address = unwind_chain_address(&frame, u->end == CHAIN_GOES_ON && u->frame.exact);
	if (!put_frame(c->run, u, v, address))
		u->end = CHAIN_END_DEPTH;
	u->append = 1;
	if (u->end == CHAIN_GOES_ON)
		return 0;
	return end_user(c);
}

/* Whether the stack of a task that exits or executes a program belongs to its parent again. After
 * vfork(2) both use one, and the parent goes on before the child has given up its memory. */
static __always_inline bool gave_back_stack(struct task_struct *task)
{
	if (!(task->flags & TASK_EXITING) && !(bpf_core_field_exists(task->in_execve) &&
					       BPF_CORE_READ_BITFIELD_PROBED(task, in_execve)))
		return false;
	return !task->vfork_done && task->mm && task->mm->mm_users.counter > 1 &&
	       task->signal->live.counter <= 1;
}

/* Sets up the first frame: where the process was interrupted, or entered the kernel. */
static __always_inline void begin_user(struct run *run, struct unwinding *u,
				       const struct cpu_registers *registers)
{
	u->frame = (struct unwind_frame){ .exact = 1, .first = 1 };
	u->append = !registers_in_user(registers);
	if (!u->append)
		u->saved = *registers;
	else if (gave_back_stack(run->task) ||
		 bpf_probe_read_kernel(&u->saved, sizeof(u->saved),
				       (void *)bpf_task_pt_regs(run->task)))
		return;
	registers_to_frame(&u->saved, &u->frame, u->registers);
	if (u->append)
		registers_to_system_call(&u->saved, &u->frame);
}

/* Moves the first frame out of the page of vsyscalls, if it is there. Not inlined, for the same
 * reason as go_to_caller(). */
static __noinline int leave_vsyscall(struct unwinding *u)
{
	if (u)
		unwind_to_vsyscall(&u->frame, machine_of(u->machine), read_stack, u);
	return 0;
}

/* Walks the user's stack from the frame that is set up. */
static __always_inline void chain_user(struct run *run, struct unwinding *u)
{
	struct chain_run c = { run, u };

	if (!u->frame.pc || !run->task->mm) {
		u->end = CHAIN_END_NO_USER;
		return;
	}
	if (!registers_machine(&u->saved, &u->machine)) {
		u->end = CHAIN_END_BITS_32;
		return;
	}
	u->window.start = u->window.bytes = 0;
	if (u->append)
		leave_vsyscall(u);
	u->script = (struct script_state){ 0 };
	u->end = CHAIN_END_DEPTH;
	u->astray = CHAIN_END_NO_MAPPING;
	run->totals->frames += bpf_loop(SAMPLE_DEPTH_MAX, chain_step, &c, 0);
	if (u->end == CHAIN_GOES_ON || (u->end == CHAIN_END_COMPLETE && u->script.is_cut))
		u->end = CHAIN_END_DEPTH;
}
