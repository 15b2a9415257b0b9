/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The callers of a sample: in the kernel by its own unwinder, in user space by the unwind tables of
 * the images (unwind_row.h), or by frame pointers. Callers that were met together before are a
 * number only; new ones are told.
 */
#pragma once

#include "arch.bpf.h"
#include "mapping.bpf.h"
#include "maps.bpf.h"
#include "place.bpf.h"

/* Chains that have been told. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u64);
	__type(value, __u32);
	__uint(max_entries, 1);
} chains SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct sample_page);
	__uint(max_entries, 1);
} pages SEC(".maps");

/* Of all tables, by index. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct unwind_rule);
	__uint(max_entries, 1);
} rules SEC(".maps");

/* Made as rows come. */
struct chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__uint(value_size, sizeof(struct sample_chunk));
	__uint(max_entries, 1);
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);
	__uint(max_entries, SAMPLE_CHUNKS_MAX);
	__array(values, struct chunk);
} chunks SEC(".maps");

/* Rules found before, by CPU like the gates: to find one touches memory in many places, and most of
 * what calls is what called a moment ago. */
enum { FOUND_SHIFT = 11 };

struct found_rule {
	__u64 offset; /* in the file */
	__u32 number; /* of its table */
	__u32 tables; /* control.tables when it was found */
	struct unwind_rule rule;
};
struct found {
	struct found_rule rules[1 << FOUND_SHIFT];
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct found);
	__uint(max_entries, 1);
} found SEC(".maps");

enum { STACK_LINE_BYTES = 64, STACK_PAGE_BYTES = 4096, STACK_WINDOW_BYTES = 512 };

/* A part of the stack, for a copy of it costs hardly more than one of a word. */
struct stack_window {
	__u64 start, bytes;
	__u64 words[STACK_WINDOW_BYTES / 8];
};

enum { CHAIN_KERNEL_BYTES = (SAMPLE_KERNEL_MAX + 1) * 8 };

/* An unwinding under way. */
struct unwinding {
	struct unwind_frame frame;
	__u64 registers[32]; /* of the interrupted frame, by their DWARF numbers */
	struct cpu_registers saved;
	struct stack_window window;
	__u32 left;   /* frames that may be added */
	__u32 append; /* the frame is a caller, not the sample itself */
	__u32 place;  /* in the map "found" */
	__u32 end;
	struct sample_chain chain;
};

/* By enum sample_slot. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct unwinding);
	__uint(max_entries, 1);
} unwindings SEC(".maps");

struct chain_run {
	struct run *run;
	struct unwinding *u;
};

/* Adds the frame's PC to the chain. */
static __always_inline bool append_frame(struct run *run, struct unwinding *u,
					 const struct mapping *v)
{
	struct sample_chain *chain = &u->chain;
	__u64 word = u->frame.pc - v->start + v->offset;
	__u32 at = chain->words;

	if (!u->left || at > SAMPLE_CHAIN_WORDS - SAMPLE_FRAME_WORDS)
		return false;
	u->left--;
	word |= (__u64)v->place << SAMPLE_FRAME_PLACE_SHIFT;
	chain->data[at] = word;
	chain->data[at + 1] = v->image.region.start;
	chain->data[at + 2] = v->image.region.end;
	chain->words = at + SAMPLE_FRAME_WORDS;
	chain->id = mix(mix(mix(chain->id, word), v->image.region.start), v->image.region.end);
	/* Of files chains are the same in all processes. */
	if (v->place == SAMPLE_FILE)
		return true;
	chain->id = mix(chain->id, chain->tgid);
	if (v->place != SAMPLE_VDSO)
		run->scratch->memory = 1;
	return true;
}

/* The table's PC of a byte of the file; false if it has none. */
static __always_inline bool table_pc(const struct sample_table *table, __u64 offset, __u64 *ret)
{
	int i;

	for (i = 0; i < UNWIND_SEGMENTS_MAX; i++) {
		if (offset - table->segments[i].offset < table->segments[i].size) {
			*ret = table->segments[i].pc + (offset - table->segments[i].offset);
			return true;
		}
	}
	return false;
}

/* Finds the rule for a byte of the file that has the table @number; CHAIN_GOES_ON, or why there is
 * none. */
static __noinline __u32 look_up_rule(struct found_rule *ret, __u64 offset, __u32 number)
{
	__u32 index, at, low, i, zero = 0;
	const struct sample_chunk *chunk;
	const struct sample_table *table;
	const struct sample_page *page;
	const struct unwind_rule *rule;
	__u64 pc;
	void *map;

	table = bpf_map_lookup_elem(&tables, &number);
	if (!ret || !number || !table)
		return number == SAMPLE_TABLE_WANTED   ? CHAIN_END_NOT_LOADED
		       : number == SAMPLE_TABLE_BUDGET ? CHAIN_END_NO_BUDGET
						       : CHAIN_END_NO_TABLE;
	if (!table_pc(table, offset, &pc) || pc >> UNWIND_PAGE_SHIFT >= table->page_count)
		return CHAIN_END_NO_RULE;
	index = table->first_page + (__u32)(pc >> UNWIND_PAGE_SHIFT);
	page = bpf_map_lookup_elem(&pages, &index);
	if (!page || !page->rows)
		return CHAIN_END_NO_RULE;
	index = page->chunk;
	map = bpf_map_lookup_elem(&chunks, &index);
	chunk = map ? bpf_map_lookup_elem(map, &zero) : NULL;
	if (!chunk)
		return CHAIN_END_NO_RULE;
	low = page->start;
	at = page->rows;
	for (i = 0; i < 17 && at > 1; i++) {
		__u32 half = at / 2;

		if (chunk->rows[(low + half) & (SAMPLE_CHUNK_ROWS - 1)].pc <= (pc & 0xffff))
			low += half;
		at -= half;
	}
	index = chunk->rows[low & (SAMPLE_CHUNK_ROWS - 1)].rule;
	rule = bpf_map_lookup_elem(&rules, &index);
	if (!rule)
		return CHAIN_END_NO_RULE;
	ret->rule = *rule;
	ret->offset = offset;
	ret->number = number;
	return CHAIN_GOES_ON;
}

/* The rule for @address in @v; NULL where there is none, *@end saying why. */
static __always_inline const struct unwind_rule *find_rule(const struct run *run,
							   const struct unwinding *u,
							   const struct mapping *v, __u64 address,
							   __u32 *end)
{
	__u64 offset = address - v->start + v->offset;
	__u32 place = u->place;
	struct found *all = bpf_map_lookup_elem(&found, &place);
	struct found_rule *known;

	if (!all)
		return NULL;
	known = &all->rules[(offset ^ (__u64)v->table << 32) * 0x9e3779b97f4a7c15ULL >>
			    (64 - FOUND_SHIFT)];
	if (known->offset == offset && known->number == v->table &&
	    known->tables == run->scratch->tables)
		return &known->rule;
	*end = look_up_rule(known, offset, v->table);
	if (*end != CHAIN_GOES_ON)
		return NULL;
	known->tables = run->scratch->tables;
	return &known->rule;
}

/* Copies what lies around @address, of its page alone: there either all can be read or nothing. */
static __noinline int copy_window(struct stack_window *w, __u64 address)
{
	__u64 start = address & ~(STACK_LINE_BYTES - 1), bytes = -start & (STACK_PAGE_BYTES - 1);

	if (!bytes || bytes > STACK_WINDOW_BYTES)
		bytes = STACK_WINDOW_BYTES;
	w->bytes = 0;
	if (bpf_probe_read_user(w->words, bytes, (void *)start))
		return CHAIN_END_UNREADABLE;
	w->start = start;
	w->bytes = bytes;
	return CHAIN_GOES_ON;
}

/* Stacks are read upwards: what is left to read below the window is read alone. */
static int read_stack(void *data, __u64 address, __u64 *ret)
{
	struct stack_window *w = &((struct unwinding *)data)->window;

	if (address & 7 || address < w->start)
		return bpf_probe_read_user(ret, sizeof(*ret), (void *)address)
			       ? CHAIN_END_UNREADABLE
			       : CHAIN_GOES_ON;
	if (address - w->start >= w->bytes && copy_window(w, address) != CHAIN_GOES_ON)
		return CHAIN_END_UNREADABLE;
	*ret = w->words[(address - w->start) / 8 & (STACK_WINDOW_BYTES / 8 - 1)];
	return CHAIN_GOES_ON;
}

static int read_register(void *data, __u32 number, __u64 *ret)
{
	const struct unwinding *u = data;

	*ret = u->registers[number & 31];
	return CHAIN_GOES_ON;
}

/* From the frame to its caller; why there is none, or CHAIN_GOES_ON. */
static __always_inline __u32 go_to_caller(const struct run *run, struct unwinding *u,
					  const struct mapping *v)
{
	bool is_file = v->place == SAMPLE_FILE || v->place == SAMPLE_VDSO;
	struct unwind_frame frame = u->frame;
	const struct unwind_rule *rule;
	__u32 end = CHAIN_END_NO_RULE;

	if (!config.by_frame_pointers && is_file) {
		rule = find_rule(run, u, v, unwind_lookup_pc(&frame), &end);
		if (rule)
			end = unwind_apply(&frame, rule, UNWIND_MACHINE, read_stack, read_register,
					   u);
		u->frame = frame;
		return end;
	}
	end = unwind_by_fp(&frame, read_stack, u);
	u->frame = frame;
	if (end == CHAIN_END_NO_RULE)
		return config.by_frame_pointers ? CHAIN_END_FP_END : CHAIN_END_NO_CODE;
	return end;
}

/* One frame; 1 ends the chain. */
static long chain_step(__u32 index, struct chain_run *c)
{
	struct unwinding *u = c->u;
	struct mapping *v = mapping_at(c->run, unwind_lookup_pc(&u->frame));

	if (!v) {
		u->end = config.by_frame_pointers ? CHAIN_END_FP_END : CHAIN_END_NO_MAPPING;
		return 1;
	}
	if (u->append && !append_frame(c->run, u, v)) {
		u->end = CHAIN_END_DEPTH;
		return 1;
	}
	u->append = 1;
	u->end = go_to_caller(c->run, u, v);
	return u->end != CHAIN_GOES_ON;
}

/* The kernel's part of a stack that bpf_get_stack() has put into the chain's data, of which the
 * address @leaf is the sample itself. */
static __always_inline void chain_kernel(struct unwinding *u, long bytes, __u32 leaf)
{
	struct sample_chain *chain = &u->chain;
	__u32 count = bytes > 0 ? (__u32)bytes / 8 : 0, i;

	leaf &= SAMPLE_KERNEL_MAX;
	if (count <= leaf + 1)
		return;
	count -= leaf + 1;
	if (count > SAMPLE_KERNEL_MAX)
		count = SAMPLE_KERNEL_MAX;
	if (count > u->left)
		count = u->left;
	for (i = 0; i < SAMPLE_KERNEL_MAX && i < count; i++) {
		__u64 word = chain->data[i + leaf + 1];

		chain->data[i] = word;
		chain->id = mix(chain->id, word);
	}
	chain->kernel_count = (__u16)count;
	chain->words = count;
	u->left -= count;
}

/* Sets the frame up that the process was interrupted in, or entered the kernel from. */
static __always_inline void begin_user(struct run *run, struct unwinding *u,
				       const struct cpu_registers *registers)
{
	u->frame = (struct unwind_frame){ .exact = 1, .first = 1 };
	u->append = !registers_in_user(registers);
	if (!u->append)
		u->saved = *registers;
	else if (bpf_probe_read_kernel(&u->saved, sizeof(u->saved),
				       (void *)bpf_task_pt_regs(run->task)))
		return;
	registers_to_frame(&u->saved, &u->frame, u->registers);
}

/* The part of user space, from the frame that is set up. */
static __always_inline void chain_user(struct run *run, struct unwinding *u)
{
	struct chain_run c = { run, u };

	if (!u->frame.pc || !run->task->mm) {
		u->end = CHAIN_END_NO_USER;
		return;
	}
	u->window.start = u->window.bytes = 0;
	u->end = CHAIN_END_DEPTH;
	run->totals->frames += bpf_loop(SAMPLE_DEPTH_MAX, chain_step, &c, 0);
	if (u->end == CHAIN_GOES_ON)
		u->end = CHAIN_END_DEPTH;
}

/* Makes sure that the reader has the chain; false if there is no room for it, which is counted. */
static __always_inline bool tell_chain(struct run *run, struct sample_chain *chain)
{
	__u32 known = 1, words = chain->words;

	if (bpf_map_lookup_elem(&chains, &chain->id))
		return true;
	if (words > SAMPLE_CHAIN_WORDS)
		words = SAMPLE_CHAIN_WORDS;
	if (!bpf_map_update_elem(&chains, &chain->id, &known, BPF_ANY)) {
		if (!tell(chain, offsetof(struct sample_chain, data) + words * 8))
			return true;
		bpf_map_delete_elem(&chains, &chain->id);
	}
	run->totals->chain_full += run->loss;
	return false;
}

static __always_inline void chain_begin(struct run *run, struct unwinding *u, enum sample_slot slot)
{
	struct sample_chain *chain = &u->chain;

	u->place = run_place(slot);
	chain->kind = SAMPLE_CHAIN;
	chain->tgid = run->scratch->key.tgid;
	chain->id = 0;
	chain->kernel_count = 0;
	chain->words = 0;
	u->left = config.depth - 1;
}

static __always_inline void chain_end(struct run *run, struct unwinding *u)
{
	struct sample_chain *chain = &u->chain;

	chain->end = (__u16)u->end;
	chain->id = mix(chain->id, u->end) | 1;
	if (tell_chain(run, chain))
		run->scratch->key.chain = chain->id;
}

/* Fills in the number of the sample's callers. */
static __always_inline void place_chain(struct perf_event_context *context, struct run *run)
{
	__u32 slot = SAMPLE_SLOT_EVENT;
	struct unwinding *u = bpf_map_lookup_elem(&unwindings, &slot);

	if (!u)
		return;
	chain_begin(run, u, SAMPLE_SLOT_EVENT);
	if (!registers_in_user(&context->registers))
		chain_kernel(u, bpf_get_stack(context, u->chain.data, CHAIN_KERNEL_BYTES, 0), 0);
	u->end = CHAIN_END_COMPLETE;
	if (!(run->task->flags & KERNEL_THREAD)) {
		begin_user(run, u, &context->registers);
		chain_user(run, u);
	}
	chain_end(run, u);
}

/* Whether a caller in the kernel is in passing code. Not static, so that the verifier looks at the
 * loop once, not from each state that a program can be in. */
__noinline int is_chain_passing(__u32 slot)
{
	const struct unwinding *u = bpf_map_lookup_elem(&unwindings, &slot);
	__u32 i;

	for (i = 0; u && i < SAMPLE_KERNEL_MAX && i < u->chain.kernel_count; i++)
		if (is_passing(u->chain.data[i]))
			return 1;
	return 0;
}

/* Has a sample of the kernel in passing code, or called from there, told apart by when it was
 * taken. */
static __noinline int note_moment(struct run *run, __u32 slot)
{
	if (!run)
		return 0;
	if (is_passing(run->scratch->key.offset) || is_chain_passing(slot))
		run->scratch->key.image.moment.at_ns = bpf_ktime_get_ns();
	return 0;
}
