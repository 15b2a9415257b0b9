/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that Java's virtual machine has generated: sends its place and its name when it is first
 * met, because the process may end, or replace the code, before it writes a map.
 */
#pragma once

#include "java_method.bpf.h"
#include "java_process.bpf.h"
#include "script.bpf.h"

enum { JAVA_CODE_MAX = 1 << 24 }; /* bytes: more makes no sense */

/* Fills the message with the name of code that is no method. */
__noinline int fill_java_stub(struct sample_function *f, const struct java_walk *w)
{
	struct sample_method *to;
	long bytes;

	if (!f || !w)
		return 0;
	to = (struct sample_method *)f->lines;
	bytes = bpf_probe_read_user_str(f->name, sizeof(f->name), (void *)w->blob.text);
	f->name_bytes = bytes > 0 ? (__u32)bytes : 0;
	f->name_width = SAMPLE_TEXT_UTF8;
	f->file_bytes = f->name_bytes; /* not used */
	to->class_bytes = to->signature_bytes = 0;
	f->lines_bytes = offsetof(struct sample_method, lines);
	return 1;
}

/* Finds the names of the method that was compiled. */
static __always_inline bool find_java_names(struct java_walk *w, const struct java_process *p)
{
	struct java_method *m = &w->method;

	m->method = w->blob.method;
	m->bytes = 0;
	return read_word(&m->code, m->method + p->offsets[JAVA_METHOD_CONST]) &&
	       read_word(&m->pool, m->code + p->offsets[JAVA_CONST_POOL]);
}

/* Sends the code that was met. Returns whether it arrived. */
static __always_inline int send_java_code(struct run *run, struct java_walk *w,
					  const struct java_process *p, __u64 id)
{
	struct sample_function *f = begin_function(run, id, INTERPRETER_JAVA);
	struct sample_method *to;

	if (!f)
		return 0;
	if (w->blob.method) {
		if (!find_java_names(w, p)) {
			run->totals->script_bad_code += run->loss;
			return 0;
		}
		if (!fill_java(f, w, p, 0))
			return 0;
	} else if (!fill_java_stub(f, w)) {
		return 0;
	}
	to = (struct sample_method *)f->lines;
	to->code = w->blob.code;
	to->bytes = w->blob.bytes;
	return end_function(run, f);
}

/* Makes sure that user space knows the code of the frame. Its id depends on what is compiled there:
 * other code may take its place. */
static __noinline int meet_java_code(struct run *run, struct unwinding *u, struct java_walk *w,
				     const struct java_process *p)
{
	struct script_walk *sent;
	__u32 slot;
	__u64 id;

	if (!run || !u || !w || !p || !w->blob.bytes || w->blob.bytes > JAVA_CODE_MAX)
		return 0;
	slot = run->slot;
	sent = bpf_map_lookup_elem(&script_walks, &slot);
	if (!sent)
		return 0;
	if (!u->script.java_methods++)
		sent->sent = 0;
	id = mix(mix(run->scratch->key.tgid, w->blob.code), w->blob.bytes);
	id = mix(mix(id, w->blob.method ?: w->blob.text), w->blob.compile);
	id = mix(id, control.names) | 1;
	if (!is_sent(run, sent, id) && send_java_code(run, w, p, id))
		note_sent(run, sent, id);
	return 0;
}
