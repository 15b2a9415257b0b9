/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Methods that Java's virtual machine interprets: sends their names and lines when they are first
 * met. A method has its names as indices of Symbols in the pool of constants of its class.
 */
#pragma once

#include "java_process.bpf.h"
#include "script.bpf.h"

enum {
	JAVA_POOL_ENTRY = 8,
	JAVA_HAS_LINES = 1, /* of the flags of a ConstMethod */
	JAVA_LINES_MAX = SAMPLE_FUNCTION_LINES / 2,
};

/* The Symbol whose index is at @address; 0 if there is none. */
__noinline __u64 java_symbol(__u64 pool, __u64 address, const struct java_layout *o)
{
	__u64 symbol = 0;
	__u16 index = 0;

	if (!o || bpf_probe_read_user(&index, sizeof(index), (void *)address) || !index ||
	    !read_word(&symbol, pool + o->pool_bytes + (__u64)index * JAVA_POOL_ENTRY))
		return 0;
	return symbol;
}

/* Copies the Symbol at @address to @to. Returns the bytes copied, 0 if it cannot be read. */
static __noinline __u32 copy_java_text(char *to, __u64 address, const struct java_process *p)
{
	__u64 bytes;
	__u16 length;

	if (!to || !p || !address ||
	    bpf_probe_read_user(&length, sizeof(length),
				(void *)(address + p->offsets[JAVA_SYMBOL_LENGTH])))
		return 0;
	bytes = length < SAMPLE_FUNCTION_TEXT ? length : SAMPLE_FUNCTION_TEXT;
	asm volatile("" : "+r"(bytes));
	if (bytes > SAMPLE_FUNCTION_TEXT ||
	    bpf_probe_read_user(to, (__u32)bytes, (void *)(address + p->offsets[JAVA_SYMBOL_BODY])))
		return 0;
	return (__u32)bytes;
}

/* The Symbol with the name of the method's class. */
static __always_inline __u64 java_class(const struct java_method *m, const struct java_process *p)
{
	__u64 holder, name;

	if (!read_word(&holder, m->pool + p->offsets[JAVA_POOL_HOLDER]) ||
	    !read_word(&name, holder + p->offsets[JAVA_KLASS_NAME]))
		return 0;
	return name;
}

/* Copies the line table, which follows the bytecode, and what follows it; its length is known only
 * when it is decoded. Returns the bytes copied. */
static __noinline __u32 copy_java_lines(char *to, const struct java_method *m,
					const struct java_process *p, const struct java_layout *o)
{
	__u64 size = 0, begin;
	__u16 flags = 0;

	if (!to || !m || !p || !o || o->entries[JAVA_CONST_SIZE] == JAVA_NO_ENTRY ||
	    o->entries[JAVA_CONST_FLAGS] == JAVA_NO_ENTRY ||
	    bpf_probe_read_user(&flags, sizeof(flags),
				(void *)(m->code + p->offsets[JAVA_CONST_FLAGS])) ||
	    !(flags & JAVA_HAS_LINES) ||
	    bpf_probe_read_user(&size, sizeof(__u32),
				(void *)(m->code + p->offsets[JAVA_CONST_SIZE])))
		return 0;
	begin = o->const_bytes + m->bytes;
	size *= 8; /* it is in words */
	if (size <= begin)
		return 0;
	size -= begin;
	if (size > JAVA_LINES_MAX)
		size = JAVA_LINES_MAX;
	asm volatile("" : "+r"(size));
	if (size > JAVA_LINES_MAX ||
	    bpf_probe_read_user(to, (__u32)size, (void *)(m->code + begin)))
		return 0;
	return (__u32)size;
}

/* Fills the message with the method that was met, with its lines if it is interpreted. */
__noinline int fill_java(struct sample_function *f, const struct java_walk *w,
			 const struct java_process *p, int is_interpreted)
{
	const struct java_layout *o;
	const struct java_method *m;
	struct sample_method *to;
	__u64 class, source = 0;

	if (!f || !w || !p)
		return 0;
	m = &w->method;
	o = java_layout_of(p->interpreter);
	if (!o)
		return 0;
	to = (struct sample_method *)f->lines;
	f->version = o->version;
	f->line = 0;
	f->code_bytes = m->bytes;
	f->name_width = f->file_width = SAMPLE_TEXT_UTF8;
	f->name_bytes = copy_java_text(
		f->name, java_symbol(m->pool, m->code + p->offsets[JAVA_CONST_NAME], o), p);
	class = java_class(m, p);
	to->class_bytes = copy_java_text(to->class_name, class, p);
	to->signature_bytes =
		copy_java_text(to->signature,
			       java_symbol(m->pool, m->code + p->offsets[JAVA_CONST_SIGNATURE], o),
			       p);
	if (o->entries[JAVA_POOL_SOURCE] != JAVA_NO_ENTRY)
		source = java_symbol(m->pool, m->pool + p->offsets[JAVA_POOL_SOURCE], o);
	/* A class without a source file is its own. */
	f->file_bytes = copy_java_text(f->file, source ? source : class, p);
	to->code = to->bytes = 0;
	f->lines_bytes = offsetof(struct sample_method, lines);
	if (is_interpreted)
		f->lines_bytes += copy_java_lines(to->lines, m, p, o);
	return 1;
}

/* Sends the method that was met. Returns whether it arrived. */
static __always_inline int send_java(struct run *run, const struct java_walk *w,
				     const struct java_process *p, __u64 id)
{
	struct sample_function *f = begin_function(run, id, INTERPRETER_JAVA);

	return f && fill_java(f, w, p, 1) && end_function(run, f);
}

/* Notes the method of an interpreted frame for the chain, and makes sure that user space knows it.
 * Its id depends on its contents, too: a class may be unloaded and another one be loaded there. */
static __noinline int meet_java_method(struct run *run, struct unwinding *u, struct java_walk *w,
				       const struct java_process *p)
{
	struct script_walk *sent;
	struct java_method *m;
	__u32 slot;
	__u64 id;

	if (!run || !u || !w || !p)
		return 0;
	m = &w->method;
	slot = run->slot;
	sent = bpf_map_lookup_elem(&script_walks, &slot);
	if (!sent)
		return 0;
	if (!read_word(&m->pool, m->code + p->offsets[JAVA_CONST_POOL])) {
		run->totals->script_bad_code += run->loss;
		return 0;
	}
	if (!u->script.java_methods++)
		sent->sent = 0;
	id = mix(mix(run->scratch->key.tgid, m->method), m->code);
	id = mix(mix(id, m->pool), m->bytes) | 1;
	if (!is_sent(run, sent, id) && send_java(run, w, p, id))
		note_sent(run, sent, id);
	u->script.method = id;
	u->script.method_at = m->at;
	return 0;
}
