/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interpreted frames. When a walk meets the first frame in an interpreter, the frames of the code
 * that it runs in this thread are read from its structures, by the walker of its language. Each
 * belongs to a call of the interpreter's loop, a frame of the C stack; there they are put into the
 * chain. Functions are sent to user space when they are first seen, because later they may be gone.
 */
#pragma once

#include "arch.bpf.h"
#include "mapping.bpf.h"
#include "rule.bpf.h"
#include "unwinding.bpf.h"

enum {
	SCRIPT_KNOWN = 64, /* threads and processes that a CPU remembers; a power of two */
	SCRIPT_FRAME_WORDS = 16,
	SCRIPT_CODE_WORDS = 32,
	SCRIPT_SENDS = 16, /* functions that are sent for one sample */
};

/* An interpreted frame; id 0: there is a boundary at ->at on the C stack. */
struct script_frame {
	__u64 id;
	__u64 at; /* offset in the function */
};

/* A thread state that was found. */
struct script_thread {
	__u64 pointer, state; /* thread_pointer(), PyThreadState */
};

/* The interpreter of a process. */
struct script_process {
	__u64 key, bias;	   /* process_key(); address of PC 0 */
	__u32 interpreter, tables; /* its number, given out when control had these tables */
};

/* The interpreted frames of a thread. */
struct script_walk {
	struct script_frame frames[SAMPLE_SCRIPT_FRAMES];
	__u64 bounds[SAMPLE_SCRIPT_FRAMES];
	struct script_thread known[SCRIPT_KNOWN];
	struct script_process processes[SCRIPT_KNOWN];
	__u64 frame[SCRIPT_FRAME_WORDS]; /* copies of what is looked at */
	__u64 code[SCRIPT_CODE_WORDS];
	__u64 bias; /* address of PC 0 of the interpreter */
	__u32 interpreter;
	__u64 at;   /* the next frame */
	__u64 more; /* a third number that a walker needs; the stack has no room */
	__u32 count, bounds_count;
	__u32 sent; /* number of functions; others follow with later samples */
	__u32 is_full;
};

/* Both indexed by enum sample_slot. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct script_walk);
	__uint(max_entries, 1);
} script_walks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct sample_function);
	__uint(max_entries, 1);
} script_functions SEC(".maps");

/* Interpreters, by sample_table.interpreter; 0 is not used. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct interpreter);
	__uint(max_entries, SAMPLE_INTERPRETERS_MAX);
} interpreters SEC(".maps");

/* Functions that were sent through the ring of the same slot. Locks: as those of known_images. */
struct known_functions {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, __u64);
	__type(value, __u32);
	__uint(max_entries, 1);
} event_functions SEC(".maps"), switch_functions SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);
	__uint(max_entries, SAMPLE_CHAIN_SLOTS);
	__array(values, struct known_functions);
} functions SEC(".maps") = {
	.values = {
		[SAMPLE_SLOT_EVENT] = &event_functions,
		[SAMPLE_SLOT_SWITCH] = &switch_functions,
	},
};

/* A number for the process, and the program that it executes. */
static __always_inline __u64 process_key(const struct run *run)
{
	const struct mappings *m = &run->scratch->mappings;

	return mix(mix(mix(m->mm, m->tgid), m->started_ns), m->execs);
}

static __always_inline bool read_word(__u64 *ret, __u64 address)
{
	return !bpf_probe_read_user(ret, sizeof(*ret), (void *)address);
}

/* --- functions --- */

/* The message in which a function is sent, with what all languages have; NULL if there is none. */
static __always_inline struct sample_function *begin_function(struct run *run, __u64 id,
							      enum interpreter_kind language)
{
	__u32 slot = run->slot;
	struct sample_function *f = bpf_map_lookup_elem(&script_functions, &slot);

	if (!f)
		return NULL;
	f->kind = SAMPLE_FUNCTION;
	f->tgid = run->scratch->key.tgid;
	f->id = id;
	f->language = language;
	return f;
}

/* Sends the function through the ring of @slot, for samples that count @loss. Returns whether it
 * arrived; if not, counts why. */
__noinline int send_script(struct sample_function *f, __u32 slot, __u64 loss)
{
	struct sample_counters *totals = bpf_map_lookup_elem(&counters, &slot);

	if (!f || !totals)
		return 0;
	if (!f->name_bytes || !f->file_bytes) {
		totals->script_unreadable += loss;
		return 0;
	}
	if (send(slot, f, offsetof(struct sample_function, lines) + f->lines_bytes, sizeof(*f)))
		return 1;
	totals->script_ring_full += loss;
	return 0;
}

static __always_inline int end_function(struct run *run, struct sample_function *f)
{
	return send_script(f, run->slot, run->loss);
}

/* Whether user space was sent the function with this @id through the ring of @slot. */
__noinline int is_sent_script(__u32 slot, __u64 id)
{
	void *sent = bpf_map_lookup_elem(&functions, &slot);

	return !sent || bpf_map_lookup_elem(sent, &id);
}

/* Whether user space knows the function with this @id, or cannot be sent it now. */
static __always_inline bool is_sent(const struct run *run, const struct script_walk *w, __u64 id)
{
	return w->sent >= SCRIPT_SENDS || is_sent_script(run->slot, id);
}

__noinline int note_sent_script(struct script_walk *w, __u32 slot, __u64 id)
{
	void *sent = bpf_map_lookup_elem(&functions, &slot);
	__u32 known = 1;

	if (!w)
		return 0;
	w->sent++;
	if (sent)
		bpf_map_update_elem(sent, &id, &known, BPF_ANY);
	return 0;
}

static __always_inline void note_sent(const struct run *run, struct script_walk *w, __u64 id)
{
	(void)note_sent_script(w, run->slot, id);
}

/* --- frames --- */

/* Returns whether there was room. */
__noinline int add_frame(struct script_walk *w, __u64 id, __u64 at)
{
	__u32 n = w ? w->count : SAMPLE_SCRIPT_FRAMES;

	if (!w)
		return false;
	if (n >= SAMPLE_SCRIPT_FRAMES) {
		w->is_full = 1;
		return false;
	}
	w->frames[n] = (struct script_frame){ id, at };
	w->count = n + 1;
	return true;
}

__noinline int add_boundary(struct script_walk *w, __u64 at)
{
	__u32 n = w ? w->bounds_count : SAMPLE_SCRIPT_FRAMES;

	if (!w || n >= SAMPLE_SCRIPT_FRAMES)
		return false;
	w->bounds[n] = at;
	w->bounds_count = n + 1;
	return add_frame(w, 0, at);
}

/* As runs_script() where the loop is a function and one that it calls. If both are on the stack,
 * the inner one counts, because samples in it are those of the interpreted function. A frame that
 * was made for a call of the loop that has not begun is left out. */
__noinline int runs_nested(struct script_state *p, __u64 pc, int is_sample)
{
	if (!p)
		return 0;
	if (pc - p->cold_start < p->cold_bytes) {
		p->is_inside = 1;
	} else if (pc - p->eval_start >= p->eval_bytes) {
		return false;
	} else if (p->is_inside) {
		p->is_inside = 0;
		return false;
	}
	if (p->is_over) {
		p->is_over = 0;
		return false;
	}
	if (p->is_fresh && p->is_inside && !is_sample)
		p->next = 2;
	p->is_fresh = 0;
	return p->next < p->count || p->is_cut;
}

/* Whether the frame from @sp to @end, at @pc, is the call of the eval loop that runs the next
 * frames, or would run those that there was no room for. @is_sample: it is the innermost one. */
static __always_inline bool runs_script(struct script_state *p, __u64 pc, __u64 sp, __u64 end,
					bool is_sample)
{
	if (p->next >= p->count && !p->is_cut)
		return false;
	if (p->nests)
		return runs_nested(p, pc, is_sample);
	if (p->eval_bytes)
		return pc - p->eval_start < p->eval_bytes || pc - p->cold_start < p->cold_bytes;
	return p->boundary - sp < end - sp;
}

/* The next frame of the walk in @slot. Returns false at a boundary, and at the end. */
static __always_inline bool next_script(struct script_state *p, __u32 slot,
					struct script_frame *ret)
{
	const struct script_walk *w = bpf_map_lookup_elem(&script_walks, &slot);
	__u32 n = p->next;

	if (!w || n >= p->count || n >= SAMPLE_SCRIPT_FRAMES)
		return false;
	p->next = n + 1;
	*ret = w->frames[n];
	if (ret->id)
		return true;
	n = ++p->bound;
	p->boundary = n < p->bounds && n < SAMPLE_SCRIPT_FRAMES ? w->bounds[n] : 0;
	return false;
}
