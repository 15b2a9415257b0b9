/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the code of processes next to the regions that it is in. */
#include "record/code/jitting.h"

#include "base/clock.h"
#include "base/mem.h"
#include "jit/jit.h"
#include "record/code/jit_reader.h"
#include "record/code/jit_writer.h"
#include "record/code/internal/jitting_state.h"
#include "record/store/sampled_image.h"
#include "sfile/session.h"

#include <string.h>

enum {
	WRITE_MAX = 2 << 20,  /* bytes of code to write at a time */
	WRITE_MIN = 64 << 10, /* of them, what a file costs at least */
};
static const uint64_t write_every = 10 * NS_PER_S;

/* Next to the directories of the regions: .../{anon:anon}/7.jo; caller frees. */
static char *region_path(const struct jitting *j, const struct maker *m, const struct spot *at)
{
	const struct sname name = { .app = at->app->image,
				    .image = at->region->image,
				    .event = "e",
				    .task = { .cgroup = at->cgroup, .comm = at->comm } };
	_cleanup_free_ char *file = sname_mangle(&name);

	*strrchr(file, '/') = '\0';
	*strrchr(file, '/') = '\0';
	return xasprintf("%s/%s/%u.jo", j->samples, file, m->tgid);
}

static bool has_news(const struct maker *m)
{
	size_t count = jit_count(m->process->jit);

	return count && (m->written != count || m->written_spots != m->spot_count);
}

/* Has the code of a process written; returns what that costs, in bytes. */
static size_t write_maker(struct jitting *j, struct maker *m, uint64_t now)
{
	struct jit_writing *job = jit_writing_new(m->process->jit, m->tgid);
	size_t i;

	for (i = 0; i < m->spot_count; i++) {
		const struct spot *at = &m->spots[i];

		jit_writing_path(job, at->app ? region_path(j, m, at)
					      : session_code_path(j->samples, m->tgid));
	}
	m->writing = jit_writer_add(j->writer, job);
	m->written = jit_count(m->process->jit);
	m->written_spots = m->spot_count;
	m->written_at = now;
	return m->spot_count * MAX(m->process->bytes, (size_t)WRITE_MIN);
}

/* Whether new code of a process is to be written now. */
static bool is_due(const struct jitting *j, const struct maker *m, uint64_t now)
{
	return has_news(m) && (m->ends || m->gone_at || m->written_at < j->flush_at ||
			       now - m->written_at >= write_every);
}

/* The process to write that was written longest ago; or NULL. */
static struct maker *next_to_write(const struct jitting *j, uint64_t now)
{
	struct maker *best = NULL;

	map_for_each (&j->makers, slot) {
		struct maker *m = slot->value;

		if (is_due(j, m, now) && (!best || m->written_at < best->written_at))
			best = m;
	}
	return best;
}

bool jitting_write_some(struct jitting *j, uint64_t now)
{
	size_t cost = 0;
	struct maker *m;

	if (!jit_writer_is_idle(j->writer))
		return j->flush_at || j->ending;
	while (cost < WRITE_MAX && (m = next_to_write(j, now)))
		cost += write_maker(j, m, now);
	if (cost)
		return j->flush_at || j->ending;
	j->flush_at = 0;
	j->ending = false;
	return false;
}

void jitting_write_all(struct jitting *j, uint64_t now)
{
	map_for_each (&j->makers, slot)
		if (has_news(slot->value))
			(void)write_maker(j, slot->value, now);
	jit_writer_wait(j->writer);
}

bool jitting_is_over(const struct jitting *j, const struct maker *m, uint64_t now)
{
	bool is_past = m->ends || (m->gone_at && now - m->gone_at >= write_every);

	return is_past && !m->waiting_count && !has_news(m) &&
	       jit_writer_is_over(j->writer, m->writing);
}
