/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walker of Python frames. Each belongs to a call of the eval loop, a frame of the C stack,
 * which contains an address that identifies it (its boundary).
 */
#pragma once

#include "script.bpf.h"

enum {
	PYTHON_THREADS_MAX = 1024, /* to search for the thread's state */
	PYTHON_THREAD_ACTIVE = 1 << 4,
	PYTHON_OWNER_C = 3,	      /* the least owner of a frame that is no Python frame */
	PYTHON_TEXT_COMPACT = 1 << 5, /* the state of a str, up to 3.13 */
	PYTHON_TEXT_ASCII = 1 << 6,
	PYTHON_TEXT_SHIFT = 14, /* of the same since 3.14 */
};

/* The search for frames, in one process. */
struct python_search {
	struct run *run;
	struct script_walk *w; /* ->more: the CFrame of the next frame */
	const struct python_layout *o;
};

/* --- the thread's state --- */

struct thread_search {
	const struct python_layout *o;
	__u64 interpreter, at; /* at: the next state, 0: those of the next interpreter */
	__u64 pointer, found;
	__u32 any; /* whether a state that is not active will do */
};

/* Looks at one thread state, for bpf_loop(): returns 1 when it is found, or there are no more. */
static long look_at_thread(__u32 index, struct thread_search *s)
{
	const struct python_layout *o = s->o;
	__u64 id = 0, status = 0;

	if (!s->at)
		return !read_word(&s->interpreter, s->interpreter + o->interpreter_next) ||
		       !s->interpreter ||
		       !read_word(&s->at, s->interpreter + o->interpreter_threads);
	if (!read_word(&id, s->at + o->thread_id))
		return 1;
	if (is_thread_id(s->pointer, id)) {
		s->found = s->at;
		if (!o->thread_status || s->any || !read_word(&status, s->at + o->thread_status) ||
		    status & PYTHON_THREAD_ACTIVE)
			return 1;
	}
	return !read_word(&s->at, s->at + o->thread_next);
}

/* Searches for the state of the thread at @pointer in all interpreters. If it has several, the
 * active one is its current one. */
__noinline __u64 search_thread(const struct python_layout *o, __u64 runtime, __u64 pointer)
{
	struct thread_search s = { .o = o, .pointer = pointer };
	__u64 more = 0;

	if (!o || !read_word(&s.interpreter, runtime + o->runtime_interpreters) || !s.interpreter ||
	    !read_word(&s.at, s.interpreter + o->interpreter_threads))
		return 0;
	s.any = read_word(&more, s.interpreter + o->interpreter_next) && !more;
	bpf_loop(PYTHON_THREADS_MAX, look_at_thread, &s, 0);
	return s.found;
}

/* Whether @state is the current state of the thread at @pointer. */
static __always_inline bool is_current(const struct python_layout *o, __u64 state, __u64 pointer)
{
	__u64 id = 0, status = PYTHON_THREAD_ACTIVE;

	if (!state || !read_word(&id, state + o->thread_id) || !is_thread_id(pointer, id))
		return false;
	return !o->thread_status ||
	       (read_word(&status, state + o->thread_status) && status & PYTHON_THREAD_ACTIVE);
}

/* The thread's PyThreadState; 0 if it has none. */
static __always_inline __u64 find_thread(const struct python_search *s, __u64 pointer)
{
	const struct python_layout *o = s->o;
	__u64 runtime = s->w->bias + (__u64)o->runtime, state = 0;
	struct script_thread *known;

	if (o->runtime_current && read_word(&state, runtime + o->runtime_current) &&
	    is_current(o, state, pointer))
		return state;
	known = &s->w->known[mix(s->run->task->tgid, pointer) >> 58 & (SCRIPT_KNOWN - 1)];
	if (known->pointer == pointer && is_current(o, known->state, pointer))
		return known->state;
	known->pointer = pointer;
	return known->state = search_thread(o, runtime, pointer);
}

/* --- functions --- */

/* Copies a str to @to. Returns the bytes copied, and in *@width those of a character, 0: ASCII. */
static __noinline __u32 copy_text(char *to, __u64 address, const struct python_layout *o,
				  __u8 *width)
{
	__u64 data, bytes, bits;
	__u32 state;

	if (!to || !o || !width || !address || !read_word(&bytes, address + 16) ||
	    !read_word(&bits, address + 32))
		return 0;
	state = (__u32)bits >> (o->version >= 0x030e ? PYTHON_TEXT_SHIFT : 0);
	if (!(state & PYTHON_TEXT_COMPACT))
		return 0;
	data = o->text_data;
	*width = 0;
	if (!(state & PYTHON_TEXT_ASCII)) {
		*width = state >> 2 & 7;
		data += 16;
		if (o->version < 0x030c)
			data += 8;
		bytes *= *width;
	}
	if (bytes > SAMPLE_FUNCTION_TEXT)
		bytes = SAMPLE_FUNCTION_TEXT & ~3;
	asm volatile("" : "+r"(bytes));
	if (bytes > SAMPLE_FUNCTION_TEXT ||
	    bpf_probe_read_user(to, (__u32)bytes, (void *)(address + data)))
		return 0;
	return (__u32)bytes;
}

/* Copies a bytes object with lines. Returns the bytes copied. */
static __noinline __u32 copy_lines(char *to, __u64 address)
{
	__u64 bytes = 0;

	if (!to || !read_word(&bytes, address + 16))
		return 0;
	asm volatile("" : "+r"(bytes));
	if (bytes > SAMPLE_FUNCTION_LINES ||
	    bpf_probe_read_user(to, (__u32)bytes, (void *)(address + 32)))
		return 0;
	return (__u32)bytes;
}

/* The word of the code object, as copied, at @offset. */
static __always_inline __u64 code_word(const struct script_walk *w, __u32 offset)
{
	return w->code[offset / 8 & (SCRIPT_CODE_WORDS - 1)];
}

/* The line of the def. */
static __always_inline __u32 code_line(const struct script_walk *w, const struct python_layout *o)
{
	__u64 word = code_word(w, o->code_line);

	return (__u32)(o->code_line & 4 ? word >> 32 : word);
}

/* Fills the message with the function whose code object was copied. */
__noinline int fill_python(struct sample_function *f, const struct script_walk *w,
			   const struct python_layout *o)
{
	__u64 text = 0;
	__u8 width = 0;

	if (!f || !w || !o)
		return 0;
	f->version = o->version;
	f->line = code_line(w, o);
	f->code_bytes = (__u32)code_word(w, 16) * 2;
	if (o->code_text)
		f->code_bytes = read_word(&text, code_word(w, o->code_text) + 16) ? (__u32)text : 0;
	f->name_bytes = copy_text(f->name, code_word(w, o->code_name), o, &width);
	f->name_width = width;
	f->file_bytes = copy_text(f->file, code_word(w, o->code_file), o, &width);
	f->file_width = width;
	f->lines_bytes = copy_lines(f->lines, code_word(w, o->code_lines));
	return 0;
}

/* Sends the function whose code object was copied. Returns whether it arrived. */
static __always_inline int send_function(struct run *run, const struct script_walk *w,
					 const struct python_layout *o, __u64 id)
{
	struct sample_function *f = begin_function(run, id, INTERPRETER_PYTHON);

	if (!f)
		return 0;
	fill_python(f, w, o);
	return end_function(run, f);
}

/* Makes sure that user space knows the function whose code object, at @address, was copied. Returns
 * the function's id. The object may be freed and another one be made there, so the id depends on
 * its contents. */
static __always_inline __u64 meet_function(const struct python_search *s, __u64 address)
{
	const struct python_layout *o = s->o;
	__u64 id = mix(mix(s->run->scratch->key.tgid, address), code_line(s->w, o));

	id = mix(mix(mix(id, code_word(s->w, o->code_file)), code_word(s->w, o->code_name)),
		 code_word(s->w, o->code_lines)) |
	     1;
	if (!is_sent(s->run, s->w, id) && send_function(s->run, s->w, o, id))
		note_sent(s->run, s->w, id);
	return id;
}

/* --- frames --- */

/* Adds the boundary of the eval loop that ends at a frame with this CFrame, and goes on to the next
 * CFrame. */
static __always_inline bool pass_cframe(struct python_search *s)
{
	if (!add_boundary(s->w, s->w->more))
		return false;
	return !s->w->more || read_word(&s->w->more, s->w->more + s->o->cframe_previous);
}

/* The word of the frame, as copied, at @offset. */
static __always_inline __u64 frame_word(const struct script_walk *w, __u32 offset)
{
	return w->frame[offset / 8 & (SCRIPT_FRAME_WORDS - 1)];
}

/* The offset of a frame's instruction, 0 if it has not begun. */
static __always_inline __u64 instruction(const struct python_search *s, __u64 code)
{
	__u64 word = frame_word(s->w, s->o->frame_instruction);
	__s64 at = (__s32)word;

	if (s->o->code_start)
		at = (__s64)(word - code - s->o->code_start);
	else if (s->o->version == 0x030a)
		at *= 2; /* an index of units */
	return at < 0 || at > 0x7fffffff ? 0 : (__u64)at;
}

/* Copies the code object at @address; false, and counts it, if it is none. */
static __always_inline bool copy_code(const struct python_search *s, __u64 address)
{
	__u32 bytes = s->o->code_bytes;

	asm volatile("" : "+r"(bytes));
	if (address && bytes <= sizeof(s->w->code) &&
	    !bpf_probe_read_user(s->w->code, bytes, (void *)address) &&
	    s->w->code[1] == s->w->bias + (__u64)s->o->code_type)
		return true;
	s->run->totals->script_bad_code += s->run->loss;
	return false;
}

/* Adds one frame, for bpf_loop(): returns 1 at the end. When there is no room for more, it only
 * looks for the boundary of their call of the eval loop. */
static long look_at_frame(__u32 index, struct python_search *s)
{
	const struct python_layout *o = s->o;
	struct script_walk *w = s->w;
	__u32 bytes = o->frame_bytes;
	__u64 code, previous;
	__u8 owner;

	asm volatile("" : "+r"(bytes));
	if (!w->at)
		return 1;
	if (bytes > sizeof(w->frame) || bpf_probe_read_user(w->frame, bytes, (void *)w->at)) {
		s->run->totals->script_bad_frame += s->run->loss;
		return 1;
	}
	previous = frame_word(w, o->frame_previous);
	owner = (__u8)(frame_word(w, o->frame_owner) >> (o->frame_owner & 7) * 8);
	if (o->entry == PYTHON_ENTRY_SHIM && owner >= PYTHON_OWNER_C) {
		code = w->at;
		w->at = previous;
		return !add_boundary(w, code);
	}
	code = frame_word(w, o->frame_code);
	if (o->is_tagged)
		code &= ~3ULL;
	if (!w->is_full) {
		if (!copy_code(s, code))
			return 1;
		(void)add_frame(w, meet_function(s, code), instruction(s, code));
	}
	w->at = previous;
	if (o->entry == PYTHON_ENTRY_SHIM || (o->entry == PYTHON_ENTRY_FLAG && !owner))
		return 0;
	return !pass_cframe(s);
}

/* Reads the Python frames of the thread, which is in the interpreter @o at @bias. */
static __always_inline int find_python(struct run *run, struct unwinding *u, struct script_walk *w,
				       const struct python_layout *o, __u64 bias)
{
	struct python_search s = { .run = run, .w = w, .o = o };
	__u64 state = find_thread(&s, thread_pointer(run->task)), id;

	if (!state) {
		run->totals->script_no_thread += run->loss;
		return 0;
	}
	if (o->thread_cframe && !read_word(&w->more, state + o->thread_cframe))
		return 0;
	id = o->thread_frame ? state + o->thread_frame : w->more + o->cframe_current;
	if (!read_word(&w->at, id))
		return 0;
	bpf_loop(2 * SAMPLE_SCRIPT_FRAMES, look_at_frame, &s, 0);
	if (o->entry == PYTHON_ENTRY_CODE) {
		u->script.eval_start = bias + (__u64)o->eval_start;
		u->script.eval_bytes = o->eval_bytes;
		u->script.cold_start = bias + (__u64)o->cold_start;
		u->script.cold_bytes = o->cold_bytes;
	}
	return 0;
}
