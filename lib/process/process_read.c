/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/process_read.h"

#include "base/mem.h"
#include "file/procfs.h"
#include "process/process_reading.h"

#include <errno.h>
#include <signal.h>

int process_read(struct process_table *t, struct process *p, uint32_t tid,
		 const struct process_source *from)
{
	_cleanup_(process_reading_freep) struct process_reading *r =
		process_reading_new(from->root, tid);

	return process_reading_take(r, p, &(struct process_target){ t, from->cookies }, UINT64_MAX);
}

bool process_is_gone(const char *root, uint32_t tgid)
{
	struct procfs_stat st;

	/* Asking the kernel itself is ten times cheaper, and mostly enough. */
	if ((!root || !*root) && kill((pid_t)tgid, 0) < 0 && errno == ESRCH)
		return true;
	if (procfs_stat(root, tgid, &st) < 0)
		return true;
	/* The main thread alone can be a zombie while others go on. */
	return (st.state == 'Z' || st.state == 'X') && st.threads <= 1;
}

/* Parents and children as /proc has them. */
struct family {
	const char *root;
	struct {
		uint32_t tgid, parent;
	} * members;
	size_t count, room;
};

static void add_member(uint32_t pid, void *data)
{
	struct family *f = data;
	struct procfs_stat st;

	if (procfs_stat(f->root, pid, &st) < 0)
		return;
	array_grow(&f->members, f->count + 1, &f->room);
	f->members[f->count].tgid = pid;
	f->members[f->count++].parent = st.parent;
}

void process_follow_children(struct process_table *t, const char *root)
{
	struct family f = { .root = root };
	bool more = true;
	size_t i;

	(void)procfs_pids(root, add_member, &f);
	/* A child's number can be lower than its parent's: go round until nobody joins. */
	while (more) {
		more = false;
		for (i = 0; i < f.count; i++) {
			const struct process *parent = process_get(t, f.members[i].parent);
			struct process *p = process_get(t, f.members[i].tgid);

			if (!parent || !parent->followed || (p && p->followed))
				continue;
			process_make(t, f.members[i].tgid)->followed = true;
			more = true;
		}
	}
	free(f.members);
}
