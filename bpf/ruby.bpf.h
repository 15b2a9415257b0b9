/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walker of Ruby frames, which are one after the other on the stack of the virtual machine. One
 * call of the interpreter's loop (rb_vm_exec, which calls vm_exec_core) runs many, up to one that
 * has a flag. The loop is known by its code. Methods that are written in C have frames, too.
 */
#pragma once

#include "script.bpf.h"

enum {
	/* Words of rb_execution_context_t: the stack, its length, the innermost frame. */
	RUBY_STATE_WORDS = 3,
	RUBY_FRAME_PC = 0, /* words of rb_control_frame_t */
	RUBY_FRAME_CODE = 2,
	RUBY_FRAME_ENVIRONMENT = 4,
	RUBY_FRAME_BYTES_READ = 40,
	/* Copied after the frame, from before and at the address: method, block, flags. */
	RUBY_ENVIRONMENT = 5,
	RUBY_ENVIRONMENT_BYTES = 24,
	RUBY_METHOD = RUBY_ENVIRONMENT,
	RUBY_FLAGS = RUBY_ENVIRONMENT + 2,
	RUBY_TYPE_MASK = 0x7fff0001,
	RUBY_TYPE_C = 0x55550001,
	RUBY_TYPE_C_BLOCK = 0x66660001,
	RUBY_TYPE_DUMMY = 0x79990001,
	RUBY_FINISH = 0x20, /* the outermost frame of a call of the loop */
	RUBY_CODE_BODY = 16,
	RUBY_BODY_START = 1,	 /* words of rb_iseq_constant_body: the first instruction */
	RUBY_METHOD_WORDS = 5,	 /* rb_method_entry_t */
	RUBY_METHOD_REFERS = 1,	 /* the method, if this is a box for special variables */
	RUBY_METHOD_NAME = 3,	 /* an ID */
	RUBY_OBJECT_TYPE = 0x1f, /* of the flags of an object */
	RUBY_OBJECT_STRING = 5,
	RUBY_OBJECT_ARRAY = 7,
	RUBY_OBJECT_INTERNAL = 0x1a,
	RUBY_INTERNAL_SHIFT = 12, /* their kind */
	RUBY_INTERNAL_BOX = 2,
	RUBY_INTERNAL_METHOD = 6,
	RUBY_OUTSIDE = 1 << 13, /* the contents of a String are elsewhere; of an Array: are not */
	RUBY_LENGTH_SHIFT = 14, /* of a String that has them, up to 3.1 */
	RUBY_SYMBOLS_NAMES = 16,
	RUBY_NAMES_SHIFT = 9, /* names in a part of the table, each with its Symbol */
};

/* The file of methods that are written in C. */
#define RUBY_INTERNAL "ruby"

/* The search for frames, in one thread. */
struct ruby_search {
	struct run *run;
	struct script_walk *w; /* ->more: the end of the virtual machine's stack */
	const struct ruby_layout *o;
	__u32 has_method; /* the innermost frame: 0: none yet, 1: is one of C, 2: is none */
	__u32 is_fresh;	  /* the innermost frame has not begun */
};

/* --- the thread's state --- */

/* Where the thread at @pointer has ruby_current_ec; 0 if that is not known. @w: room for what is
 * read. */
static __always_inline __u64 ruby_current(struct script_walk *w, const struct ruby_layout *o,
					  __u64 bias, __u64 pointer)
{
	__u64 *module = &w->code[0], *parts = &w->code[1], *part = &w->code[2];

	if (o->thread == RUBY_THREAD_FIXED)
		return pointer + (__u64)o->current;
	/* The dynamic thread vector, which "ELF Handling For Thread-Local Storage" describes. */
	if (!read_word(module, bias + (__u64)o->module) || *module > 0xffff ||
	    !read_word(parts, pointer + 8) ||
	    !read_word(part, *parts + (*module << (o->thread == RUBY_THREAD_MUSL ? 3 : 4))))
		return 0;
	return *part + (__u64)o->current;
}

/* --- functions --- */

/* Stores the flags of the object at @address. Returns its type, 0 if it cannot be read. */
static __always_inline __u32 ruby_type(__u64 address, __u64 *flags)
{
	if (!address || address & 7 || !read_word(flags, address))
		return 0;
	return (__u32)*flags & RUBY_OBJECT_TYPE;
}

/* The element @index of the Array at @address; 0 if that is none. */
__noinline __u64 ruby_element(__u64 address, __u64 index)
{
	__u64 flags, elements = address + 16, ret = 0;

	if (ruby_type(address, &flags) != RUBY_OBJECT_ARRAY)
		return 0;
	if (!(flags & RUBY_OUTSIDE) && !read_word(&elements, address + 32))
		return 0;
	return read_word(&ret, elements + index * 8) ? ret : 0;
}

/* Copies the String at @address to @to. Returns the bytes copied, 0 if it cannot be read. */
static __noinline __u32 copy_ruby_text(char *to, __u64 address, const struct ruby_layout *o)
{
	__u64 flags, bytes = 0, text = address + 24;

	if (!to || !o || ruby_type(address, &flags) != RUBY_OBJECT_STRING)
		return 0;
	if (flags & RUBY_OUTSIDE) {
		if (!read_word(&text, text))
			return 0;
	}
	if (!(flags & RUBY_OUTSIDE) && o->is_short) {
		bytes = flags >> RUBY_LENGTH_SHIFT & 31;
		text = address + 16;
	} else if (!read_word(&bytes, address + 16)) {
		return 0;
	}
	if (bytes > SAMPLE_FUNCTION_TEXT)
		bytes = SAMPLE_FUNCTION_TEXT;
	asm volatile("" : "+r"(bytes));
	if (bytes > SAMPLE_FUNCTION_TEXT || bpf_probe_read_user(to, (__u32)bytes, (void *)text))
		return 0;
	return (__u32)bytes;
}

/* The word of the function, as copied, at @offset. */
static __always_inline __u64 ruby_word(const struct script_walk *w, __u32 offset)
{
	return w->code[offset / 8 & (SCRIPT_CODE_WORDS - 1)];
}

/* The number of instructions' words. */
static __always_inline __u32 ruby_words(const struct script_walk *w)
{
	return w->code[0] >> 32;
}

/* Copies the line table of the function that was copied. Returns the bytes copied. */
static __noinline __u32 copy_ruby_lines(char *to, const struct script_walk *w,
					const struct ruby_layout *o)
{
	__u32 words = w ? ruby_words(w) : 0, few = 48, many = 0;
	__u64 entries, index, count;

	if (!to || !w || !o)
		return 0;
	count = (__u32)ruby_word(w, o->body_lines + 16);
	entries = ruby_word(w, o->body_lines);
	index = ruby_word(w, o->body_lines + 24);
	if (words < RUBY_FEW_WORDS)
		few = (words + 8) / 9 * 8;
	else
		many = (words - RUBY_FEW_WORDS + 511) / 512 * RUBY_BLOCK_BYTES;
	few += many;
	if (few > RUBY_INDEX_BYTES)
		few = RUBY_INDEX_BYTES;
	asm volatile("" : "+r"(few));
	if (count > 1 && (few > RUBY_INDEX_BYTES || bpf_probe_read_user(to, few, (void *)index)))
		return 0;
	count *= o->line_bytes;
	if (count > SAMPLE_FUNCTION_LINES - RUBY_INDEX_BYTES)
		count = SAMPLE_FUNCTION_LINES - RUBY_INDEX_BYTES;
	asm volatile("" : "+r"(count));
	if (count > SAMPLE_FUNCTION_LINES - RUBY_INDEX_BYTES ||
	    bpf_probe_read_user(to + RUBY_INDEX_BYTES, (__u32)count, (void *)entries))
		return 0;
	return RUBY_INDEX_BYTES + (__u32)count;
}

/* The line of the definition. */
static __always_inline __u32 ruby_line(const struct script_walk *w, const struct ruby_layout *o)
{
	__u64 line = ruby_word(w, o->body_line);

	return (__u32)(o->is_short ? line >> 1 /* an Integer */ : line);
}

/* The name of the file that the function was loaded from. */
__noinline __u64 ruby_file(__u64 path)
{
	__u64 flags, real;

	if (ruby_type(path, &flags) != RUBY_OBJECT_ARRAY)
		return path;
	real = ruby_element(path, 1);
	return ruby_type(real, &flags) == RUBY_OBJECT_STRING ? real : ruby_element(path, 0);
}

/* Fills the message with the function whose body was copied. */
__noinline int fill_ruby(struct sample_function *f, const struct script_walk *w,
			 const struct ruby_layout *o)
{
	if (!f || !w || !o)
		return 0;
	f->version = o->version;
	f->line = ruby_line(w, o);
	f->code_bytes = ruby_words(w);
	f->name_width = f->file_width = SAMPLE_TEXT_UTF8;
	f->name_bytes = copy_ruby_text(f->name, ruby_word(w, o->body_path + 16), o);
	f->file_bytes = copy_ruby_text(f->file, ruby_file(ruby_word(w, o->body_path)), o);
	f->lines_bytes = copy_ruby_lines(f->lines, w, o);
	return 0;
}

/* Sends the function whose body was copied. Returns whether it arrived. */
static __always_inline int send_ruby(struct run *run, const struct script_walk *w,
				     const struct ruby_layout *o, __u64 id)
{
	struct sample_function *f = begin_function(run, id, INTERPRETER_RUBY);

	if (!f)
		return 0;
	fill_ruby(f, w, o);
	return end_function(run, f);
}

/* The String with the name of the method that was copied. */
static __always_inline __u64 ruby_method_name(const struct script_walk *w,
					      const struct ruby_layout *o)
{
	__u64 number = w->code[RUBY_METHOD_NAME], names = 0;

	if (number > o->last_operator)
		number >>= 4;
	if (!read_word(&names, w->bias + (__u64)o->symbols + RUBY_SYMBOLS_NAMES))
		return 0;
	names = ruby_element(names, number >> RUBY_NAMES_SHIFT);
	return ruby_element(names, (number & ((1 << RUBY_NAMES_SHIFT) - 1)) * 2);
}

/* Fills the message with the method written in C that was copied. */
__noinline int fill_ruby_method(struct sample_function *f, const struct script_walk *w,
				const struct ruby_layout *o)
{
	if (!f || !w || !o)
		return 0;
	f->version = o->version;
	f->line = f->lines_bytes = 0;
	f->code_bytes = 1;
	f->name_width = f->file_width = SAMPLE_TEXT_UTF8;
	f->name_bytes = copy_ruby_text(f->name, ruby_method_name(w, o), o);
	f->file_bytes = sizeof(RUBY_INTERNAL) - 1;
	__builtin_memcpy(f->file, RUBY_INTERNAL, sizeof(RUBY_INTERNAL));
	return 0;
}

/* Sends the method written in C that was copied. Returns whether it arrived. */
static __always_inline int send_ruby_method(struct run *run, const struct script_walk *w,
					    const struct ruby_layout *o, __u64 id)
{
	struct sample_function *f = begin_function(run, id, INTERPRETER_RUBY);

	if (!f)
		return 0;
	fill_ruby_method(f, w, o);
	return end_function(run, f);
}

/* --- frames --- */

/* Adds the frame of the code at @address. Its place is the word of its instruction. Returns false,
 * and counts it, if that cannot be read. */
static __always_inline bool add_ruby(struct ruby_search *s, __u64 address)
{
	const struct ruby_layout *o = s->o;
	struct script_walk *w = s->w;
	__u64 id, at;

	if (!read_word(w->code, address + RUBY_CODE_BODY) ||
	    bpf_probe_read_user(w->code, RUBY_BODY_BYTES, (void *)w->code[0]))
		return false;
	at = (w->frame[RUBY_FRAME_PC] - w->code[RUBY_BODY_START]) / 8;
	if (at > ruby_words(w))
		return false;
	if (!s->has_method && !at)
		s->is_fresh = 1;
	/* It may be freed and another one be made there, so the id depends on its contents. */
	id = mix(mix(s->run->scratch->key.tgid, address), w->code[RUBY_BODY_START]);
	id = mix(mix(id, ruby_word(w, o->body_path)), ruby_word(w, o->body_path + 16));
	id = mix(id, ruby_word(w, o->body_line)) | 1;
	if (!is_sent(s->run, w, id) && send_ruby(s->run, w, o, id))
		note_sent(s->run, w, id);
	/* The instruction may have begun, and then the next one is noted: as Ruby has it itself. */
	(void)add_frame(w, id, at ? at - 1 : 0);
	return true;
}

/* Adds the frame of the method at @address, which is written in C; none if it has no name. */
static __always_inline void add_ruby_method(struct ruby_search *s, __u64 address)
{
	struct script_walk *w = s->w;
	__u64 id;

	if (ruby_type(address, w->code) == RUBY_OBJECT_INTERNAL &&
	    (w->code[0] >> RUBY_INTERNAL_SHIFT & 15) == RUBY_INTERNAL_BOX) {
		if (!read_word(w->code, address + RUBY_METHOD_REFERS * 8))
			return;
		address = w->code[0];
	}
	if (!address || bpf_probe_read_user(w->code, RUBY_METHOD_WORDS * 8, (void *)address) ||
	    (w->code[0] >> RUBY_INTERNAL_SHIFT & 15) != RUBY_INTERNAL_METHOD)
		return;
	id = mix(mix(s->run->scratch->key.tgid, address), w->code[RUBY_METHOD_NAME]) | 1;
	if (!is_sent(s->run, w, id) && send_ruby_method(s->run, w, s->o, id))
		note_sent(s->run, w, id);
	(void)add_frame(w, id, 0);
}

/* Adds one frame, for bpf_loop(): returns 1 at the end. When there is no room for more, it only
 * looks for the last one of their call of the loop. */
static long look_at_ruby(__u32 index, struct ruby_search *s)
{
	struct script_walk *w = s->w;
	__u64 code, flags;
	__u32 type;

	if (w->at >= w->more)
		return 1;
	if (bpf_probe_read_user(w->frame, RUBY_FRAME_BYTES_READ, (void *)w->at) ||
	    bpf_probe_read_user(&w->frame[RUBY_ENVIRONMENT], RUBY_ENVIRONMENT_BYTES,
				(void *)(w->frame[RUBY_FRAME_ENVIRONMENT] - 16))) {
		s->run->totals->script_bad_frame += s->run->loss;
		return 1;
	}
	w->at += s->o->frame_bytes;
	flags = w->frame[RUBY_FLAGS];
	type = flags & RUBY_TYPE_MASK;
	code = w->frame[RUBY_FRAME_CODE];
	if (type == RUBY_TYPE_DUMMY)
		return 0;
	if (type == RUBY_TYPE_C) {
		if (!w->is_full && s->o->symbols)
			add_ruby_method(s, w->frame[RUBY_METHOD]);
	} else if (code && w->frame[RUBY_FRAME_PC] && type != RUBY_TYPE_C_BLOCK && !w->is_full &&
		   !add_ruby(s, code)) {
		s->run->totals->script_bad_code += s->run->loss;
		return 1;
	}
	if (!s->has_method)
		s->has_method = type == RUBY_TYPE_C ? 1 : 2;
	return flags & RUBY_FINISH && !add_boundary(w, 0);
}

/* Reads the Ruby frames of the thread, which is in the interpreter @o at @bias. */
static __always_inline int find_ruby(struct run *run, struct unwinding *u, struct script_walk *w,
				     const struct ruby_layout *o, __u64 bias)
{
	struct ruby_search s = { .run = run, .w = w, .o = o };
	bool in_loop;

	if (!read_word(&w->at, ruby_current(w, o, bias, thread_pointer(run->task))) || !w->at ||
	    bpf_probe_read_user(w->code, RUBY_STATE_WORDS * 8, (void *)w->at) || !w->code[2]) {
		run->totals->script_no_thread += run->loss;
		return 0;
	}
	w->at = w->code[2];
	w->more = w->code[0] + w->code[1] * 8;
	bpf_loop(2 * SAMPLE_SCRIPT_FRAMES, look_at_ruby, &s, 0);
	u->script.eval_start = bias + (__u64)o->loop_start;
	u->script.eval_bytes = o->loop_bytes;
	u->script.cold_start = bias + (__u64)o->core_start;
	u->script.cold_bytes = o->core_bytes;
	u->script.nests = 1;
	/* Where frames come and go, in C, the loop that runs the innermost one has not begun or is
	 * over. */
	u->script.is_fresh = s.is_fresh && w->count > 1 && !w->frames[1].id;
	in_loop = u->frame.pc - u->script.eval_start < o->loop_bytes ||
		  u->frame.pc - u->script.cold_start < o->core_bytes;
	u->script.is_over = !u->append && in_loop && s.has_method == 1;
	return 0;
}
