/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/thread_names.h"

#include "base/map.h"
#include "base/mem.h"
#include "file/procfs.h"

#include <stdio.h>

/* With more, ends of threads were lost: all are read again. */
enum { THREADS_MAX = 1 << 16 };

struct name {
	char text[16];
};

struct thread_names {
	struct map by_tid;
	char *root;
};

struct thread_names *thread_names_new(const char *root)
{
	struct thread_names *t = xcalloc(1, sizeof(*t));

	t->root = xstrdup(root);
	return t;
}

void thread_names_forget(struct thread_names *t)
{
	map_for_each (&t->by_tid, slot)
		free(slot->value);
	map_done(&t->by_tid);
	t->by_tid = MAP_INIT;
}

void thread_names_free(struct thread_names *t)
{
	if (!t)
		return;
	thread_names_forget(t);
	free(t->root);
	free(t);
}

static const char *set(struct thread_names *t, uint32_t tid, const char *text)
{
	struct name *name = map_get(&t->by_tid, tid);

	if (!name) {
		if (t->by_tid.count == THREADS_MAX)
			thread_names_forget(t);
		name = xcalloc(1, sizeof(*name));
		(void)map_set(&t->by_tid, tid, name);
	}
	(void)snprintf(name->text, sizeof(name->text), "%s", text);
	return name->text;
}

void thread_names_record(struct thread_names *t, const struct perf_record *r)
{
	const struct name *parent;

	switch (r->type) {
	case PERF_RECORD_COMM:
		(void)set(t, r->tid, r->comm.name);
		break;
	case PERF_RECORD_FORK:
		parent = map_get(&t->by_tid, r->task.parent_tid);
		if (parent) {
			struct name copy = *parent;

			(void)set(t, r->tid, copy.text);
			break;
		}
		/* What is known is of an older thread with this number. */
		__attribute__((fallthrough));
	case PERF_RECORD_EXIT:
		free(map_remove(&t->by_tid, r->tid));
		break;
	case PERF_RECORD_LOST:
		thread_names_forget(t);
		break;
	}
}

const char *thread_names_of(struct thread_names *t, uint32_t tid)
{
	const struct name *name = map_get(&t->by_tid, tid);
	char text[16];

	if (name)
		return name->text;
	if (!tid)
		return "swapper";
	return procfs_comm(t->root, tid, text) < 0 ? "(unknown)" : set(t, tid, text);
}
