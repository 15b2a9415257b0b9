/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/internal/pprof_labels.h"

#include "base/mem.h"
#include "profile/print/report.h"
#include "profile/rows/chains.h"
#include "profile/select/cgroup_label.h"
#include "sfile/session_names.h"

#include <stdlib.h>
#include <string.h>

static const char *host_of(const struct pprof_labels *l, const struct chains_moment *part)
{
	const struct chains *c = l->report->chains;

	return c->by_source ? c->sources[part->step].host : NULL;
}

static const char *cgroup_of(const struct pprof_labels *l, const struct chains_moment *part)
{
	return l->report->chains->tasks.list[part->task].cgroup ? l->cgroups[part->task] : NULL;
}

static const char *comm_of(const struct pprof_labels *l, const struct chains_moment *part)
{
	const struct sname_task *t = &l->report->chains->tasks.list[part->task];

	return t->comm ?: session_names_thread(l->report->gather->session_names, t->tgid, t->tid);
}

static const struct {
	const char *key;
	/* NULL: not separated */
	const char *(*text)(const struct pprof_labels *l, const struct chains_moment *part);
	size_t number; /* without ->text: where it is in struct sname_task */
} kinds[] = {
	{ "host", host_of, 0 },
	{ "cgroup", cgroup_of, 0 },
	{ "comm", comm_of, 0 },
	{ "pid", NULL, offsetof(struct sname_task, tgid) },
	{ "tid", NULL, offsetof(struct sname_task, tid) },
	{ "cpu", NULL, offsetof(struct sname_task, cpu) },
};
static_assert(ARRAY_SIZE(kinds) == PPROF_LABELS_MOST, "room for a label of each kind");

void pprof_labels_init(struct pprof_labels *l, const struct report *report)
{
	const struct task_list *tasks = &report->chains->tasks;
	_cleanup_free_ const char **paths = xcalloc(tasks->count + 1, sizeof(*paths));
	size_t i;

	*l = (struct pprof_labels){ .report = report };
	for (i = 0; i < tasks->count; i++)
		paths[i] = tasks->list[i].cgroup;
	l->cgroups = cgroup_names(report->gather->session_names, paths, tasks->count, &l->names);
}

size_t pprof_labels_find(const struct pprof_labels *l, const struct chains_moment *part,
			 struct pprof_label ret[PPROF_LABELS_MOST])
{
	const struct sname_task *task = &l->report->chains->tasks.list[part->task];
	size_t i, count = 0;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct pprof_label label = { .key = kinds[i].key, .number = SNAME_ALL };

		if (kinds[i].text)
			label.text = kinds[i].text(l, part);
		else
			memcpy(&label.number, (const char *)task + kinds[i].number,
			       sizeof(label.number));
		if (label.text || label.number != SNAME_ALL)
			ret[count++] = label;
	}
	return count;
}

void pprof_labels_done(struct pprof_labels *l)
{
	free(l->cgroups);
	intern_done(&l->names);
}
