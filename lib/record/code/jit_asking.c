/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks Java's virtual machines for the names of their code, one at a time. */
#include "record/code/jit_reader.h"

#include "base/clock.h"
#include "jit/attacher.h"
#include "jit/jit.h"
#include "record/code/internal/jit_reader_state.h"

#include <errno.h>

/* How long the answers to the last questions are waited for. */
static const uint64_t last_max = NS_PER_S;

void jit_reader_attacher(struct jit_reader *r, struct attacher *a)
{
	r->attacher = a;
}

void jit_process_miss(struct jit_process *p, uint64_t time)
{
	java_map_miss(&p->java, time);
}

bool jit_process_has_all(const struct jit_process *p, uint64_t time)
{
	return p->known >= time && p->java.state == JAVA_MAP_IDLE;
}

bool jit_process_is_exact(const struct jit_process *p)
{
	size_t i = 0;

	while (i < p->source_count && !jit_source_timed(p->sources[i]))
		i++;
	return i < p->source_count;
}

/* Whether its virtual machine should be asked: what is written does not describe its code. While
 * that is still being read, it must not be written again. */
static bool is_due(const struct jit_process *p, uint64_t now)
{
	return java_map_is_due(&p->java, now) && p->known >= p->java.missed_ns && !p->unread &&
	       !jit_process_is_exact(p) && !jit_files_gone(p->files);
}

/* The process to ask: that which was asked longest ago; or NULL. */
static struct jit_process *next_to_ask(const struct jit_reader *r, uint64_t now)
{
	struct jit_process *best = NULL;

	map_for_each (&r->processes, slot) {
		struct jit_process *p = slot->value;

		if (is_due(p, now) && (!best || p->java.asked_ns < best->java.asked_ns))
			best = p;
	}
	return best;
}

bool jit_reader_ask(struct jit_reader *r, uint64_t now)
{
	struct jit_process *p =
		r->attacher && !attacher_is_busy(r->attacher) ? next_to_ask(r, now) : NULL;

	if (!p || !attacher_ask(r->attacher, &(struct attacher_question){
						     .tgid = p->tgid,
						     .inner = jit_files_query(p->files)->inner,
						     .serial = p->serial }))
		return false;
	java_map_ask(&p->java, now, jit_count(p->jit));
	return true;
}

bool jit_reader_is_asking(const struct jit_reader *r)
{
	return r->attacher && attacher_is_busy(r->attacher);
}

void jit_reader_hurry(struct jit_reader *r)
{
	map_for_each (&r->processes, slot) {
		struct jit_process *p = slot->value;

		java_map_hurry(&p->java);
	}
}

void jit_reader_take_java(struct jit_reader *r)
{
	struct attacher_answer answer;
	struct jit_process *p;

	if (!r->attacher || !attacher_take(r->attacher, &answer))
		return;
	r->stats.java_maps += answer.code == 0;
	p = map_get(&r->processes, answer.tgid);
	if (!p || p->serial != answer.serial)
		return;
	if (answer.code && jit_files_gone(p->files))
		answer.code = -ESRCH;
	r->stats.java_refused += java_map_note(&p->java, &answer);
	/* Also one that failed may have begun to write. */
	p->again = true;
	if (answer.code == 0 && jit_process_search(p))
		p->found = true; /* the next search returns it */
}

bool jit_reader_ask_last(struct jit_reader *r, uint64_t now)
{
	uint64_t end_ns = clock_now_ns() + last_max, now_ns;
	bool has_asked = false;

	jit_reader_hurry(r);
	while ((now_ns = clock_now_ns()) < end_ns &&
	       (jit_reader_ask(r, now) || jit_reader_is_asking(r))) {
		has_asked = true;
		attacher_wait(r->attacher, (int)((end_ns - now_ns) / 1000000) + 1);
		jit_reader_take_java(r);
	}
	return has_asked;
}
