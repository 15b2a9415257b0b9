/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * HotSpot knows where execution is at some instructions: at the address after a call, and, because
 * events of compiled methods are wanted, at the last instruction of a piece that is compiled from
 * the same bytecode. So what it reports of an address applies to the instructions up to that one.
 */
#include "agent/java_debug.h"

#include "agent/java_methods.h"

#include <jvmticmlr.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 65536, CALLS_MAX = 8192, DEPTH_MAX = 32 };

/* Makes room for one more than @count members of @size bytes in @array, which has room for *@room.
 * Returns it, or NULL if out of memory. */
static void *make_room(void *array, size_t size, size_t count, size_t *room)
{
	size_t more = *room ? 2 * *room : 64;
	void *grown;

	if (count < *room)
		return array;
	grown = realloc(array, more * size);
	if (grown)
		*room = more;
	return grown;
}

static bool same_file(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Adds that the code from ->known on is of the line of @bci. */
static void add_line(struct java_debug *l, jmethodID method, jlocation bci)
{
	const struct java_method *m = java_methods_get(l->methods, method);
	unsigned int line = java_method_line(m, bci);
	struct debug_line_info *rows, *last = l->line_count ? &l->lines[l->line_count - 1] : NULL;
	char *file;

	if (!line || !m->file || l->line_count == LINES_MAX)
		return;
	if (last && last->lineno == line && same_file(last->filename, m->file))
		return;
	rows = make_room(l->lines, sizeof(*rows), l->line_count, &l->line_room);
	if (!rows)
		return;
	l->lines = rows;
	file = strdup(m->file);
	if (file)
		rows[l->line_count++] =
			(struct debug_line_info){ (unsigned long)(l->code + l->known), line, file };
}

/* Adds a call of @method from @bci of @from, which is the method of the call @caller. Returns its
 * number; 0 if there is no room. */
static unsigned int add_call(struct java_debug *l, unsigned int caller, jmethodID from, jint bci,
			     jmethodID method)
{
	const struct java_method *m = java_methods_get(l->methods, method);
	char *function = m->name ? strdup(m->name) : NULL;
	unsigned int number = (unsigned int)l->call_count + 1;

	m = java_methods_get(l->methods, from);
	if (!function)
		return 0;
	l->calls[l->call_count++] =
		(struct op_inlined_call){ .caller = caller,
					  .lineno = java_method_line(m, bci),
					  .filename = m->file ? strdup(m->file) : NULL,
					  .function = function };
	l->keys[number] = (struct java_call){
		.caller = caller, .next = l->keys[caller].first, .method = method, .bci = bci
	};
	l->keys[caller].first = number;
	return number;
}

static bool has_room_for_call(struct java_debug *l)
{
	void *calls, *keys;

	if (l->call_count == CALLS_MAX)
		return false;
	calls = make_room(l->calls, sizeof(*l->calls), l->call_count, &l->call_room);
	if (!calls)
		return false;
	l->calls = calls;
	keys = make_room(l->keys, sizeof(*l->keys), l->call_count + 1, &l->key_room);
	if (!keys)
		return false;
	l->keys = keys;
	if (!l->call_count)
		l->keys[0] = (struct java_call){ 0 };
	return true;
}

/* The number of the innermost call of @p, which is added if it is new; 0 if nothing is inlined
 * there, or there is no room. */
static unsigned int find_call(struct java_debug *l, const PCStackInfo *p)
{
	unsigned int caller = 0, number;
	jint i;

	/* The last method is the one that was compiled. */
	for (i = p->numstackframes - 2; i >= 0; i--, caller = number) {
		number = l->keys ? l->keys[caller].first : 0;
		for (; number; number = l->keys[number].next)
			if (l->keys[number].method == p->methods[i] &&
			    l->keys[number].bci == p->bcis[i + 1])
				break;
		if (!number && has_room_for_call(l))
			number = add_call(l, caller, p->methods[i + 1], p->bcis[i + 1],
					  p->methods[i]);
		if (!number)
			return caller;
	}
	return caller;
}

static void add_row(struct java_debug *l, const PCStackInfo *p)
{
	unsigned int call = p->numstackframes <= DEPTH_MAX ? find_call(l, p) : 0;
	struct op_inlined_row *rows;

	if (l->row_count ? l->rows[l->row_count - 1].call == call : !call)
		return;
	rows = make_room(l->rows, sizeof(*rows), l->row_count, &l->row_room);
	if (!rows)
		return;
	l->rows = rows;
	rows[l->row_count++] = (struct op_inlined_row){ (unsigned int)l->known, call };
}

/* Sets up to where all is known, once it is: to the instruction at @pc. Returns false if that is
 * before or outside. */
static bool reaches(const struct java_debug *l, const void *pc, size_t *ret)
{
	*ret = (size_t)((const char *)pc - l->code) + 1;
	return *ret > l->known && *ret <= l->size;
}

bool java_debug_inlined(struct java_debug *l, const void *info)
{
	const jvmtiCompiledMethodLoadRecordHeader *h;
	bool any = false;
	size_t end;
	jint i;

	for (h = info; h; h = h->next) {
		const jvmtiCompiledMethodLoadInlineRecord *r = (const void *)h;

		for (i = 0; h->kind == JVMTI_CMLR_INLINE_INFO && i < r->numpcs; i++) {
			const PCStackInfo *p = &r->pcinfo[i];

			if (p->numstackframes <= 0 || !reaches(l, p->pc, &end))
				continue;
			add_line(l, p->methods[0], p->bcis[0]);
			add_row(l, p);
			l->known = end;
			any = true;
		}
	}
	return any;
}

void java_debug_plain(struct java_debug *l, jmethodID method, const jvmtiAddrLocationMap *map,
		      jint count)
{
	size_t end;
	jint i;

	for (i = 0; i < count; i++) {
		if (!reaches(l, map[i].start_address, &end))
			continue;
		add_line(l, method, map[i].location);
		l->known = end;
	}
}

void java_debug_write(const struct java_debug *l, op_agent_t agent)
{
	const struct op_inlined_calls inlined = { l->calls, l->call_count, l->rows, l->row_count };

	(void)op_write_debug_line_info(agent, l->code, l->line_count, l->lines);
	(void)op_write_inlined_calls(agent, (uint64_t)(uintptr_t)l->code, &inlined);
}

void java_debug_done(struct java_debug *l)
{
	while (l->line_count)
		free((char *)l->lines[--l->line_count].filename);
	while (l->call_count) {
		free((char *)l->calls[--l->call_count].filename);
		free((char *)l->calls[l->call_count].function);
	}
	free(l->lines);
	free(l->calls);
	free(l->keys);
	free(l->rows);
}
