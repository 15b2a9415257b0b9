/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks Java's virtual machines for the names of their code. */
#include "record/code/internal/jit_reader_state.h"

#include "jit/attacher.h"

#include <errno.h>

void jit_reader_attacher(struct jit_reader *r, struct attacher *a)
{
	r->attacher = a;
}

/* Whether a jitdump describes its code, which a perf map would not do as well. */
static bool has_timed_source(const struct jit_process *p)
{
	size_t i = 0;

	while (i < p->source_count && !jit_source_timed(p->sources[i]))
		i++;
	return i < p->source_count;
}

void jit_process_want_java(struct jit_process *p)
{
	if (p->reader->attacher && !has_timed_source(p) && !jit_files_gone(p->files))
		java_map_want(p->reader->attacher, jit_files_query(p->files), p->serial, &p->java);
}

void jit_reader_take_java(struct jit_reader *r)
{
	struct attacher_answer answer;
	struct jit_process *p;

	if (!r->attacher || !attacher_take(r->attacher, &answer))
		return;
	p = map_get(&r->processes, answer.tgid);
	r->stats.java_maps += answer.code == 0;
	r->stats.java_refused += answer.code != 0 && answer.code != -ENOEXEC;
	if (!p || p->serial != answer.serial)
		return;
	java_map_note(&p->java, &answer);
	p->again = p->again || answer.code == 0;
	/* What it does not describe now is asked for when it is met again. */
	p->found = jit_process_search(p) || answer.code == 0;
}
