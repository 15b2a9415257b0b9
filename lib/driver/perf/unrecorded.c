/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf/unrecorded.h"

#include "base/macro.h"
#include "driver/driver.h"
#include "process/process.h"

/* Reading processes takes at most one part in so many of the time. */
enum { READ_SHARE = 1000 };

struct comparison {
	const struct unrecorded_from *from;
	struct process *process;
};

/* Whether a file is known to be mapped between two addresses: the kernel merges memory with that
 * before it. A copy of text is memory, too. */
static bool has_file(const struct maps *maps, uint64_t start, uint64_t end)
{
	const struct mapping *m = maps_next(maps, start);

	while (m && m->start < end && (!m->cookie || m->label))
		m = maps_next(maps, m->end);
	return m && m->start < end;
}

/* Puts memory that was read into its place where a file was known. */
static void compare(const struct mapping_source *read, void *data)
{
	struct comparison *c = data;
	struct mapping memory;

	mapping_from(read, c->from->cookies, &memory);
	if (memory.cookie || !c->process->maps ||
	    !has_file(c->process->maps, read->start, read->end))
		return;
	process_map(c->from->processes, c->process, &memory);
	c->from->stats->maps_unrecorded++;
}

/* The process that was sampled since it was checked, and was not checked for longest. */
static struct process *choose(const struct unrecorded_from *from)
{
	struct process *oldest = NULL;

	map_for_each (&from->processes->by_tgid, slot) {
		struct process *p = slot->value;

		if (p->sampled && p->maps && !p->kernel &&
		    (!oldest || p->checked_ns < oldest->checked_ns))
			oldest = p;
	}
	return oldest;
}

static void begin(struct unrecorded *u, const struct unrecorded_from *from, uint64_t now_ns)
{
	struct process *p = now_ns >= u->next_ns ? choose(from) : NULL;
	uint64_t asked_ns;

	if (!p)
		return;
	p->sampled = false;
	p->checked_ns = now_ns;
	if (process_reader_is_asked(from->reader, p->tgid, &asked_ns) ||
	    process_reader_ask(from->reader, p->tgid, p->tgid, now_ns) < 0)
		return;
	u->tgid = p->tgid;
	u->is_read = false;
}

void unrecorded_tidy(struct unrecorded *u, const struct unrecorded_from *from, uint64_t now_ns)
{
	struct process *p = u->tgid ? process_get(from->processes, u->tgid) : NULL;
	struct comparison c = { from, p };
	uint64_t asked_ns;

	if (!p || !process_reader_is_asked(from->reader, u->tgid, &asked_ns)) {
		unrecorded_drop(u, from, u->tgid);
		begin(u, from, now_ns);
	} else if (!u->is_read) {
		u->is_read = process_reader_await(from->reader, u->tgid, 0);
	} else {
		u->next_ns = now_ns +
			     READ_SHARE * process_reader_look(from->reader, u->tgid, compare, &c);
		u->tgid = 0;
	}
}

void unrecorded_drop(struct unrecorded *u, const struct unrecorded_from *from, uint32_t tgid)
{
	if (!tgid || u->tgid != tgid)
		return;
	process_reader_forget(from->reader, tgid, UINT64_MAX);
	u->tgid = 0;
}
