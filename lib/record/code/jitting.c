/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/code/jitting.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "jit/jit.h"
#include "driver/driver.h"
#include "jit/jit_source.h"
#include "record/store/sampled_image.h"
#include "record/code/jit_reader.h"
#include "record/code/jit_writer.h"
#include "record/code/internal/jitting_state.h"
#include "unwind/unwind_code.h"

#include <string.h>

enum {
	WAITING_MAX = 65536, /* samples of one process */
	SPOTS_MAX = 16,	     /* of one process: each has a file */
	PASS_MAX = 4 << 20,  /* bytes of code to pass to the driver after a sync */
	PASS_MIN = 1 << 10,  /* of them, what a piece costs at least */
};
static const uint64_t wait_max = 10 * NS_PER_S;
/* Between two looks at all samples that wait, in turns. */
static const uint64_t place_every = NS_PER_S / 16;
/* Interval of searches for new files while samples wait. It doubles after each search without a
 * result, because a search reads all mappings of a process. */
static const uint64_t search_every_min = NS_PER_S / 4, search_every_max = 8 * NS_PER_S;

struct jitting *jitting_new(const struct jitting_config *config)
{
	struct jitting *j = xcalloc(1, sizeof(*j));

	j->reader = jit_reader_new(config->root ?: "", config->memory,
				   sampled_image_opener(config->binaries));
	jit_reader_attacher(j->reader, config->attacher);
	jit_reader_relieve(j->reader, config->relief);
	j->writer = jit_writer_new();
	j->samples = xstrdup(config->samples);
	j->binaries = config->binaries;
	j->store = config->store;
	j->has_turns = config->relief != NULL;
	j->ops = config->ops;
	j->driver = config->driver;
	return j;
}

/* Passes to the driver, if there is one that needs it, how to unwind code. */
static void pass(const struct jitting *j, const struct unwind_code *code)
{
	if (*j->driver && (*j->ops)->code)
		(*j->ops)->code(*j->driver, code);
}

static void maker_free(struct jitting *j, struct maker *m)
{
	if (m->has_rows)
		pass(j, &(struct unwind_code){ .tgid = m->tgid });
	jit_process_waited(m->process, m->waiting_count);
	jit_process_free(m->process);
	free(m->waiting);
	free(m->spots);
	free(m);
}

/* Has the driver send again the names that are forgotten. */
static void renew_names(const struct jitting *j)
{
	if (j->driver && *j->driver && (*j->ops)->renew_names)
		(*j->ops)->renew_names(*j->driver);
}

void jitting_forget(struct jitting *j)
{
	if (j->makers.count)
		renew_names(j);
	jit_writer_wait(j->writer);
	map_for_each (&j->makers, slot)
		maker_free(j, slot->value);
	map_done(&j->makers);
}

void jitting_use_images(const struct jitting *j)
{
	size_t i;

	map_for_each (&j->makers, slot) {
		const struct maker *m = slot->value;

		for (i = 0; i < m->spot_count; i++) {
			sampled_image_use(j->binaries, m->spots[i].app);
			sampled_image_use(j->binaries, m->spots[i].region);
		}
		for (i = 0; i < m->waiting_count; i++) {
			sampled_image_use(j->binaries, m->waiting[i].key.app);
			sampled_image_use(j->binaries, m->waiting[i].key.image);
		}
	}
}

void jitting_each_name(const struct jitting *j,
		       void (*use)(const char *cgroup, const char *comm, void *data), void *data)
{
	size_t i;

	map_for_each (&j->makers, slot) {
		const struct maker *m = slot->value;

		for (i = 0; i < m->spot_count; i++)
			use(m->spots[i].cgroup, m->spots[i].comm, data);
		for (i = 0; i < m->waiting_count; i++)
			use(m->waiting[i].key.task.cgroup, m->waiting[i].key.task.comm, data);
	}
}

void jitting_free(struct jitting *j)
{
	if (!j)
		return;
	jitting_forget(j);
	jit_reader_free(j->reader);
	jit_writer_free(j->writer);
	free(j->samples);
	free(j);
}

struct jitting_samples jitting_samples(const struct jitting *j)
{
	return (struct jitting_samples){ j->sums.lost, j->sums.waiting };
}

void jitting_stats(const struct jitting *j, struct jit_reader_stats *ret)
{
	jit_reader_stats(j->reader, ret);
}

static struct maker *find_maker(struct jitting *j, uint32_t tgid)
{
	struct maker *m = map_get(&j->makers, tgid);

	if (m) {
		m->ends = false;
		return m;
	}
	m = xcalloc(1, sizeof(*m));
	m->tgid = tgid;
	m->process = jit_process_new(j->reader, tgid);
	m->search_every = search_every_min / 2;
	(void)map_set(&j->makers, tgid, m);
	return m;
}

static void add_spot(struct maker *m, const struct spot *spot)
{
	if (m->spot_count == SPOTS_MAX)
		return;
	array_grow(&m->spots, m->spot_count + 1, &m->spot_room);
	m->spots[m->spot_count++] = *spot;
}

/* Notes where the code is to be written; the newest is the likeliest. */
static void note_spot(struct maker *m, const struct store_key *key)
{
	size_t i;

	for (i = m->spot_count; i--;)
		if (m->spots[i].app == key->app && m->spots[i].cgroup == key->task.cgroup &&
		    m->spots[i].comm == key->task.comm &&
		    !strcmp(m->spots[i].region->image.name, key->image->image.name))
			return;
	add_spot(m, &(struct spot){ key->app, key->image, key->task.cgroup, key->task.comm });
}

bool jitting_add(struct jitting *j, const struct store_key *key, uint64_t address, uint64_t weight)
{
	struct maker *m;

	if (!key->image->image.tgid)
		return false;
	m = find_maker(j, key->image->image.tgid);
	if (m->waiting_count == WAITING_MAX || !jit_process_may_wait(m->process))
		return false;
	note_spot(m, key);
	j->sums.waiting += weight;
	array_grow(&m->waiting, m->waiting_count + 1, &m->waiting_room);
	m->waiting[m->waiting_count++] = (struct waiting_sample){
		.key = *key, .address = address, .weight = weight, .after = j->last_sync
	};
	return true;
}

void jitting_name(struct jitting *j, uint32_t tgid, const struct jit_code *code)
{
	struct jit_code now = *code;

	now.from = j->last_sync + 1;
	now.late = true;
	jit_process_find(find_maker(j, tgid)->process, &now);
}

void jitting_place(struct jitting *j, struct sampled_image **image, uint64_t *offset)
{
	const struct sname_image *region = &(*image)->image;
	struct maker *m = region->tgid ? find_maker(j, region->tgid) : NULL;
	uint64_t address = region->start + *offset;
	const struct jit_code *code = m ? jit_find(m->process->jit, address, j->last_sync) : NULL;

	if (m && !m->in_chains)
		add_spot(m, &(struct spot){ 0 });
	if (m)
		m->in_chains = true;
	if (m && !code)
		m->unnamed = true;
	if (m && !code && !jit_process_expects(m->process, address))
		m->missed = true;
	if (!code || code->place == code->address)
		return;
	*offset = code->place + (address - code->address) - JIT_PLACE_START;
	*image = sampled_image_region(j->binaries, region->tgid, JIT_PLACE_START, JIT_PLACE_END,
				      region->name);
}

/* Searches for files that describe code, if something needs them. A frame waits until a file is
 * found: what the file does not describe then is searched for when it is met again. */
static void find_sources(struct maker *m, uint64_t now, bool all)
{
	bool is_due = all || now >= m->search_at;
	bool needs = m->waiting_count || m->unnamed || jit_process_needs_search(m->process);

	if (!(is_due && needs) && !m->gone_at)
		return;
	m->search_every = MIN(m->search_every * 2, search_every_max);
	if (jit_process_search(m->process)) {
		m->search_every = search_every_min;
		m->unnamed = false;
	}
	m->search_at = now + m->search_every;
}

/* Passes to the driver how to unwind what is new, at most @bytes of code. If some code of a process
 * has rows, that of other code is passed, too: it may have taken its place. */
static void pass_rows(struct jitting *j, struct maker *m, size_t bytes)
{
	const struct jit *jit = m->process->jit;
	size_t count = jit_count(jit), taken = 0;

	for (; m->passed < count && taken < bytes; m->passed++) {
		const struct jit_code *c = jit_at(jit, m->passed);

		m->has_rows = m->has_rows || c->row_count;
		if (!m->has_rows || c->to != JIT_FOREVER)
			continue;
		taken += MAX(c->size, (uint64_t)PASS_MIN);
		pass(j, &(struct unwind_code){ .tgid = m->tgid,
					       .uid = m->process->user->uid,
					       .address = c->address,
					       .size = c->size,
					       .rows = c->rows,
					       .row_count = c->row_count });
	}
}

static void count(struct jitting *j, const struct waiting_sample *w, const struct jit_code *code)
{
	struct store_key key = w->key;
	uint64_t address = w->address;
	struct store_file *file;

	if (code && code->place != code->address) {
		address = code->place + (address - code->address);
		key.image =
			sampled_image_region(j->binaries, key.image->image.tgid, JIT_PLACE_START,
					     JIT_PLACE_END, key.image->image.name);
	}
	file = store_get(j->store, &key);
	if (file)
		store_add(j->store, file, address - key.image->image.start, w->weight);
	else
		j->sums.lost += w->weight;
	j->sums.waiting -= w->weight;
}

/* The code that a sample is in; NULL if it is not known. */
static const struct jit_code *find_code(const struct maker *m, const struct waiting_sample *w)
{
	return jit_find(m->process->jit, w->address, w->time)
		       ?: jit_find(m->process->jit, w->address, w->after);
}

/* Whether what waits for code of a process waits in vain. */
static bool has_all(const struct maker *m)
{
	return m->waiting_count == WAITING_MAX ||
	       (m->gone_at && jit_process_has_all(m->process, m->gone_at));
}

/* Counts the samples whose code is known or that have waited too long, with @all all of them. What
 * is missed is noted. */
static void place_samples(struct jitting *j, struct maker *m, uint64_t now, bool all)
{
	uint64_t known = jit_process_known_until(m->process);
	size_t i, kept = 0;

	all = all || has_all(m);
	if (m->missed)
		jit_process_miss(m->process, now);
	m->missed = false;
	for (i = 0; i < m->waiting_count; i++) {
		struct waiting_sample *w = &m->waiting[i];
		bool must, may;
		const struct jit_code *code;

		w->time = w->time ?: now;
		must = all || now - w->time > wait_max;
		may = must || known >= w->time;
		code = may ? find_code(m, w) : NULL;
		if (must || code) {
			count(j, w, code);
			continue;
		}
		if (may)
			jit_process_miss(m->process, w->time);
		m->waiting[kept++] = *w;
	}
	jit_process_waited(m->process, m->waiting_count - kept);
	m->waiting_count = kept;
}

static void sweep(struct jitting *j, uint64_t now)
{
	struct map kept = MAP_INIT;
	bool is_any_alive = false;

	map_for_each (&j->makers, slot) {
		struct maker *m = slot->value;

		if (jitting_is_over(j, m, now)) {
			is_any_alive |= !m->gone_at;
			maker_free(j, m);
		} else {
			(void)map_set(&kept, slot->key, m);
		}
	}
	if (is_any_alive)
		renew_names(j);
	map_done(&j->makers);
	j->makers = kept;
}

/* Reads new descriptions. */
static void read_code(struct jitting *j, uint64_t now, bool all)
{
	map_for_each (&j->makers, slot) {
		struct maker *m = slot->value;

		if (!m->gone_at && jit_files_gone(m->process->files))
			m->gone_at = now;
		find_sources(m, now, all);
	}
	jit_reader_sync(j->reader, sampled_image_parser(j->binaries), now, all);
}

static void place_all(struct jitting *j, uint64_t now, bool all)
{
	map_for_each (&j->makers, slot)
		place_samples(j, slot->value, now, all);
}

/* Has what is still missed described, as far as the processes live. */
static void ask_last(struct jitting *j, uint64_t now)
{
	place_all(j, now, false);
	if (jit_reader_ask_last(j->reader, now))
		read_code(j, now, true);
}

void jitting_sync(struct jitting *j, uint64_t now, bool all)
{
	read_code(j, now, all);
	if (all)
		ask_last(j, now);
	map_for_each (&j->makers, slot)
		if (j->driver)
			pass_rows(j, slot->value, PASS_MAX / j->makers.count);
	if (all || !j->has_turns || now - j->placed_at >= place_every) {
		place_all(j, now, all);
		j->placed_at = now;
	}
	j->last_sync = now;
	if (all) {
		jitting_write_all(j, now);
	} else {
		(void)jitting_write_some(j, now);
		(void)jit_reader_ask(j->reader, now);
	}
	sweep(j, now);
}

bool jitting_tend(struct jitting *j, uint64_t now)
{
	bool ending = j->ending, is_left = (j->flush_at || ending) && jitting_write_some(j, now);

	if (ending && !is_left)
		sweep(j, now);
	return is_left;
}

void jitting_search(struct jitting *j, uint64_t now)
{
	map_for_each (&j->makers, slot)
		find_sources(slot->value, now, true);
	jit_reader_hurry(j->reader);
}

bool jitting_reads(const struct jitting *j)
{
	return jit_reader_has_more(j->reader);
}

void jitting_flush(struct jitting *j, uint64_t now)
{
	place_all(j, now, true);
	j->flush_at = now;
}

void jitting_settle(struct jitting *j, uint64_t now)
{
	map_for_each (&j->makers, slot) {
		struct maker *m = slot->value;

		place_samples(j, m, now, true);
		m->ends = j->ending = true;
	}
}
