/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/process_asked.h"

#include "base/mem.h"
#include "file/procfs.h"

/* When the process with that number started; 0 if there is none. */
static uint64_t born(const char *root, uint32_t tgid)
{
	struct procfs_stat st;

	return procfs_stat(root, tgid, &st) < 0 ? 0 : st.start;
}

static void note(struct process_asked *a, pid_t pid)
{
	a->list[a->count].tgid = (uint32_t)pid;
	a->list[a->count++].born = born(a->root, (uint32_t)pid);
}

void process_asked_note(struct process_asked *a, const char *root, pid_t pid, const pid_t *others,
			size_t count)
{
	size_t i;

	if (a->list)
		return;
	a->root = root;
	a->list = xcalloc(count + 1, sizeof(*a->list));
	note(a, pid);
	for (i = 0; i < count; i++)
		note(a, others[i]);
}

void process_asked_done(struct process_asked *a)
{
	free(a->list);
	*a = (struct process_asked){ 0 };
}

void process_asked_follow(const struct process_asked *a, struct process_table *t)
{
	size_t i;

	for (i = 0; i < a->count; i++) {
		uint64_t now = born(a->root, a->list[i].tgid), then = a->list[i].born;

		if (now == then || !then)
			process_make(t, a->list[i].tgid)->followed = true;
	}
}
