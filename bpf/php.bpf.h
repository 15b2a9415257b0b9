/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walker of PHP frames. One call of the interpreter's loop (execute_ex) runs many, up to one
 * that has a flag. The loop is known by its code. Functions that PHP calls and that are written in
 * C have frames, too.
 */
#pragma once

#include "script.bpf.h"

enum {
	PHP_FRAME_WORDS = 7,	/* zend_execute_data: */
	PHP_FRAME_OPLINE = 0,	/* the instruction, if it was saved */
	PHP_FRAME_FUNCTION = 3, /* 0: a placeholder */
	PHP_FRAME_FLAGS = 5,	/* the lower half */
	PHP_FRAME_PREVIOUS = 6,
	PHP_FRAME_TOP = 1 << 17, /* the outermost frame of a call of the loop */
	PHP_HEAD_WORDS = 3,
	PHP_FUNCTION_NAME = 1, /* zend_function: a string */
	PHP_FUNCTION_CLASS = 2,
	PHP_INTERNAL_FUNCTION = 1, /* its lowest byte: written in C */
	PHP_USER_FUNCTION = 2,
	PHP_EVAL_CODE = 4,
	PHP_CLASS_NAME = 8,  /* offset in zend_class_entry */
	PHP_STRING_HASH = 8, /* offsets in zend_string */
	PHP_STRING_BYTES = 16,
	PHP_STRING_TEXT = 24,
	PHP_OPLINE_LINE = 24, /* offset in zend_op */
};

/* The names of code in no function, and of the file of functions written in C. */
#define PHP_TOP	     "{main}"
#define PHP_INTERNAL "php"

/* The search for frames, in one process. */
struct php_search {
	struct run *run;
	/* ->more: the instruction of the innermost frame, if it is in a register; else 0. */
	struct script_walk *w;
	const struct php_layout *o;
};

/* Copies a zend_string to @to. Returns the bytes copied, 0 if it cannot be read. */
static __noinline __u32 copy_php_text(char *to, __u64 address)
{
	__u64 bytes = 0;

	if (!to || !address || !read_word(&bytes, address + PHP_STRING_BYTES))
		return 0;
	if (bytes > SAMPLE_FUNCTION_TEXT)
		bytes = SAMPLE_FUNCTION_TEXT;
	asm volatile("" : "+r"(bytes));
	if (bytes > SAMPLE_FUNCTION_TEXT ||
	    bpf_probe_read_user(to, (__u32)bytes, (void *)(address + PHP_STRING_TEXT)))
		return 0;
	return (__u32)bytes;
}

/* The word of the function, as copied, at @offset. */
static __always_inline __u64 php_word(const struct script_walk *w, __u32 offset)
{
	return w->code[offset / 8 & (SCRIPT_CODE_WORDS - 1)];
}

static __always_inline bool is_php_internal(const struct script_walk *w)
{
	return (__u8)w->code[0] == PHP_INTERNAL_FUNCTION;
}

/* Stores the first and the last line of the function that was copied; 0 if it has none. */
static __always_inline void php_lines(const struct script_walk *w, const struct php_layout *o,
				      __u32 *first, __u32 *last)
{
	__u64 lines = is_php_internal(w) ? 0 : php_word(w, o->function_lines);

	*first = (__u32)lines;
	*last = lines >> 32;
}

/* Fills the message with the function that was copied. */
__noinline int fill_php(struct sample_function *f, const struct script_walk *w,
			const struct php_layout *o)
{
	__u64 class, name = 0;
	__u32 last;

	if (!f || !w || !o)
		return 0;
	f->version = o->version;
	php_lines(w, o, &f->line, &last);
	f->code_bytes = last >= f->line ? last - f->line + 1 : 1;
	f->name_width = f->file_width = SAMPLE_TEXT_UTF8;
	f->name_bytes = sizeof(PHP_TOP) - 1;
	if (w->code[PHP_FUNCTION_NAME])
		f->name_bytes = copy_php_text(f->name, w->code[PHP_FUNCTION_NAME]);
	else
		__builtin_memcpy(f->name, PHP_TOP, sizeof(PHP_TOP));
	f->file_bytes = sizeof(PHP_INTERNAL) - 1;
	if (!is_php_internal(w))
		f->file_bytes = copy_php_text(f->file, php_word(w, o->function_file));
	else
		__builtin_memcpy(f->file, PHP_INTERNAL, sizeof(PHP_INTERNAL));
	f->lines_bytes = 0;
	class = w->code[PHP_FUNCTION_CLASS];
	if (class && read_word(&name, class + PHP_CLASS_NAME))
		f->lines_bytes = copy_php_text(f->lines, name);
	return 0;
}

/* Sends the function that was copied. Returns whether it arrived. */
static __always_inline int send_php(struct run *run, const struct script_walk *w,
				    const struct php_layout *o, __u64 id)
{
	struct sample_function *f = begin_function(run, id, INTERPRETER_PHP);

	if (!f)
		return 0;
	fill_php(f, w, o);
	return end_function(run, f);
}

/* A number for the string at @address: PHP uses addresses again, so it has the string's hash, too,
 * which those of names and files have. */
static __always_inline __u64 php_string_id(__u64 address)
{
	__u64 hash = 0;

	if (address && !read_word(&hash, address + PHP_STRING_HASH))
		hash = 0;
	return mix(address, hash);
}

/* Makes sure that user space knows the function that was copied. Returns its id, which depends on
 * its contents: it may be freed, and closures of the same code are at many addresses. */
static __always_inline __u64 meet_php(const struct php_search *s)
{
	const struct script_walk *w = s->w;
	__u64 id = mix(s->run->scratch->key.tgid, php_string_id(w->code[PHP_FUNCTION_NAME]));

	id = mix(id, w->code[PHP_FUNCTION_CLASS]);
	if (!is_php_internal(w))
		id = mix(mix(id, php_string_id(php_word(w, s->o->function_file))),
			 php_word(w, s->o->function_lines));
	id |= 1;
	if (!is_sent(s->run, w, id) && send_php(s->run, w, s->o, id))
		note_sent(s->run, s->w, id);
	return id;
}

/* The line of the instruction at @opline; 0 if that is none of the function that was copied. */
static __always_inline __u32 php_line(const struct php_search *s, __u64 opline)
{
	__u32 first, last, line = 0;

	php_lines(s->w, s->o, &first, &last);
	if (!opline || bpf_probe_read_user(&line, sizeof(line), (void *)(opline + PHP_OPLINE_LINE)))
		return 0;
	return line >= first && line <= last ? line : 0;
}

/* Adds the frame whose function was copied: its place is its line, counted from the first. */
static __always_inline void add_php(struct php_search *s, __u64 saved)
{
	__u32 first, last, line = 0;

	php_lines(s->w, s->o, &first, &last);
	if (!is_php_internal(s->w)) {
		line = php_line(s, s->w->more);
		if (!line)
			line = php_line(s, saved);
		s->w->more = 0;
	}
	(void)add_frame(s->w, meet_php(s), line ? line - first : 0);
}

/* Copies the function at @address; one that is written in C is shorter. */
static __always_inline bool copy_php(struct script_walk *w, __u64 address)
{
	if (!bpf_probe_read_user(w->code, PHP_FUNCTION_WORDS * 8, (void *)address))
		return true;
	return !bpf_probe_read_user(w->code, PHP_HEAD_WORDS * 8, (void *)address) &&
	       is_php_internal(w);
}

/* Adds one frame, for bpf_loop(): returns 1 at the end. When there is no room for more, it only
 * looks for the last one of their call of the loop. */
static long look_at_php(__u32 index, struct php_search *s)
{
	struct script_walk *w = s->w;
	__u64 function;
	__u8 type;

	if (!w->at)
		return 1;
	if (bpf_probe_read_user(w->frame, PHP_FRAME_WORDS * 8, (void *)w->at)) {
		s->run->totals->script_bad_frame += s->run->loss;
		return 1;
	}
	w->at = w->frame[PHP_FRAME_PREVIOUS];
	function = w->frame[PHP_FRAME_FUNCTION];
	if (!function)
		return 0;
	if (!copy_php(w, function)) {
		s->run->totals->script_bad_code += s->run->loss;
		return 1;
	}
	type = (__u8)w->code[0];
	if (type == PHP_INTERNAL_FUNCTION) {
		if (!w->is_full && w->code[PHP_FUNCTION_NAME])
			add_php(s, 0);
		return 0;
	}
	if (type != PHP_USER_FUNCTION && type != PHP_EVAL_CODE) {
		s->run->totals->script_bad_code += s->run->loss;
		return 1;
	}
	if (!w->is_full)
		add_php(s, w->frame[PHP_FRAME_OPLINE]);
	return w->frame[PHP_FRAME_FLAGS] & PHP_FRAME_TOP && !add_boundary(w, 0);
}

/* Reads the PHP frames of the process, which is in the interpreter @o at @bias. */
static __always_inline int find_php(struct run *run, struct unwinding *u, struct script_walk *w,
				    const struct php_layout *o, __u64 bias)
{
	struct php_search s = { .run = run, .w = w, .o = o };

	/* Builds without ZTS run PHP in one thread; others of the process are not in it. */
	if (run->task->pid != run->task->tgid)
		return 0;
	if (!read_word(&w->at, bias + (__u64)o->current)) {
		run->totals->script_bad_frame += run->loss;
		return 0;
	}
	if (!w->at) {
		run->totals->script_no_thread += run->loss;
		return 0;
	}
	w->more = 0;
	/* The loop has its frame and instruction in registers. */
	if (u->registers[PHP_REGISTER_FRAME] == w->at)
		w->more = u->registers[PHP_REGISTER_OPLINE];
	bpf_loop(2 * SAMPLE_SCRIPT_FRAMES, look_at_php, &s, 0);
	u->script.eval_start = bias + (__u64)o->loop_start;
	u->script.eval_bytes = o->loop_bytes;
	u->script.cold_start = bias + (__u64)o->cold_start;
	u->script.cold_bytes = o->cold_bytes;
	return 0;
}
