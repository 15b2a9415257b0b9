/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/process.h"

#include "base/mem.h"
#include "stream/evbuf.h"

#include <stdio.h>
#include <string.h>

/* A zombie may stay as long as its parent likes. */
enum { ASK_AGAIN_NS = 1000000000 };

/* A process that may be gone, to be looked at when its time has come. */
struct process_leaving {
	uint32_t tgid;
	uint64_t at_ns;
};

static void process_free(struct process *p)
{
	maps_unref(p->maps);
	free(p);
}

void process_table_clear(struct process_table *t)
{
	uint64_t changes = t->changes + 1;

	map_for_each (&t->by_tgid, slot)
		process_free(slot->value);
	map_done(&t->by_tgid);
	free(t->leaving);
	*t = PROCESS_TABLE_INIT;
	t->changes = changes;
}

struct process *process_get(const struct process_table *t, uint32_t tgid)
{
	return map_get(&t->by_tgid, tgid);
}

struct process *process_make(struct process_table *t, uint32_t tgid)
{
	struct process *p = process_get(t, tgid);

	if (p)
		return p;
	p = xcalloc(1, sizeof(*p));
	p->tgid = tgid;
	(void)map_set(&t->by_tgid, tgid, p);
	t->changes++;
	return p;
}

static void process_remove(struct process_table *t, uint32_t tgid)
{
	struct process *p = map_remove(&t->by_tgid, tgid);

	if (p)
		process_free(p);
	t->changes++;
}

struct process *process_fork(struct process_table *t, uint32_t parent_tgid, uint32_t tgid)
{
	const struct process *parent = process_get(t, parent_tgid);
	struct process *child;

	if (parent_tgid == tgid)
		return process_make(t, tgid);
	process_remove(t, tgid);
	child = process_make(t, tgid);
	if (!parent)
		return child;
	*child = *parent;
	child->tgid = tgid;
	child->leaving = false;
	child->read_ns = child->tried_ns = child->cost_ns = 0;
	if (child->kernel)
		child->app = EVBUF_NO_COOKIE;
	if (child->maps)
		child->maps = maps_ref(child->maps);
	return child;
}

void process_rename(struct process_table *t, struct process *p, const char *name)
{
	(void)snprintf(p->name, sizeof(p->name), "%s", name);
	if (p->kernel)
		p->app = EVBUF_NO_COOKIE; /* the name was the application */
	t->changes++;
}

void process_set_maps(struct process_table *t, struct process *p, struct maps *maps)
{
	maps_unref(p->maps);
	p->maps = maps;
	t->changes++;
}

void process_exec(struct process_table *t, struct process *p, const char *name)
{
	process_rename(t, p, name);
	process_set_maps(t, p, maps_new());
	p->exec = true;
	p->kernel = false;
	p->leaving = false;
}

void process_map(struct process_table *t, struct process *p, const struct mapping *mapping)
{
	if (!p->maps)
		p->maps = maps_new();
	maps_add(&p->maps, mapping);
	/* The kernel maps the program before its interpreter and the vdso; but an executable stack
	 * comes first. */
	if (p->exec && mapping->cookie) {
		p->app = mapping->cookie;
		p->exec = p->waiting = false;
	}
	t->changes++;
}

bool process_any_followed(const struct process_table *t)
{
	map_for_each (&t->by_tgid, slot)
		if (((const struct process *)slot->value)->followed)
			return true;
	return false;
}

static void enqueue(struct process_table *t, uint32_t tgid, uint64_t at_ns)
{
	array_grow(&t->leaving, t->leaving_count + 1, &t->leaving_room);
	t->leaving[t->leaving_count++] = (struct process_leaving){ tgid, at_ns };
}

void process_leave(struct process_table *t, struct process *p, uint64_t at_ns)
{
	if (p->leaving)
		return;
	p->leaving = true;
	enqueue(t, p->tgid, at_ns);
}

void process_expire(struct process_table *t, uint64_t until_ns,
		    bool (*gone)(uint32_t tgid, void *data), void *data)
{
	size_t due = 0, i;

	while (due < t->leaving_count && t->leaving[due].at_ns <= until_ns)
		due++;
	for (i = 0; i < due; i++) {
		uint32_t tgid = t->leaving[i].tgid;
		const struct process *p = process_get(t, tgid);

		/* The number may be another's by now. */
		if (!p || !p->leaving)
			continue;
		if (gone(tgid, data))
			process_remove(t, tgid);
		else
			enqueue(t, tgid, until_ns + ASK_AGAIN_NS);
	}
	if (!due)
		return;
	t->leaving_count -= due;
	memmove(t->leaving, t->leaving + due, t->leaving_count * sizeof(*t->leaving));
}
