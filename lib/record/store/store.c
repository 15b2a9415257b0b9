/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/store/store.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "helper/relief.h"
#include "record/store/descriptor_limit.h"
#include "record/store/file_maker.h"
#include "record/store/past.h"
#include "record/store/sampled_image.h"
#include "record/store/store_open.h"
#include "sfile/sfile.h"

#include <errno.h>

#define MAPPED_MAX_DEFAULT ((size_t)24 << 20)

enum {
	/* Most open files, and how many are opened in a turn. */
	OPEN_MAX = 16384,
	OPEN_IN_TURN = 16,

	/* Counts that wait for a file: room at first, and how many open it. */
	WAITING_FIRST = 8,
	WAITING_FULL = 4096,
	POPULATE_SHARE = 8192, /* bytes per count; below, mapping the whole file pays */
	UNLOAD_SOME = 64       /* files looked at when too much waits */
};

struct store *store_new(const struct store_config *config)
{
	struct store *s = xcalloc(1, sizeof(*s));

	s->opener = store_opener_new(config);
	if (config->keep_ms)
		s->past = past_new(config, s->opener);
	s->relief = config->relief;
	s->sample_events = config->sample_events;
	s->mapped_max = config->mapped_max ? config->mapped_max : MAPPED_MAX_DEFAULT;
	s->open_max =
		config->open_max ? config->open_max : descriptor_limit_share(OPEN_MIN, OPEN_MAX);
	s->open_most = s->open_max;
	s->waiting_max = s->mapped_max / 2;
	s->may_open = OPEN_IN_TURN;
	return s;
}

void store_free(struct store *s)
{
	if (!s)
		return;
	store_close_all(s);
	map_done(&s->by_hash);
	store_opener_free(s->opener);
	past_free(s->past);
	free(s);
}

/* --- finding --- */

/* Returns the file of @key; creates it, closed and without counts, if it is new. */
static struct store_file *lookup(struct store *s, const struct store_key *key)
{
	uint64_t hash = store_key_hash(key);
	struct store_file *f;

	map_for_each_of(&s->by_hash, hash, f) if (store_key_equal(&f->key, key)) return f;
	f = xcalloc(1, sizeof(*f));
	f->key = *key;
	f->hash = hash;
	map_add(&s->by_hash, hash, f);
	list_push(&s->closed, f);
	s->closed_size += sizeof(*f);
	return f;
}

/* --- waiting --- */

static void populate(const struct store *s, const struct store_file *f)
{
	relief_leave(s->relief);
	odb_populate(f->db);
	relief_return(s->relief);
}

/* Adds the waiting counts of a file, which are lost if it is not open. */
static void add_all_waiting(struct store *s, struct store_file *f)
{
	bool open = f->db != NULL;
	uint32_t i;

	if (open && f->waiting_count >= odb_mapped_bytes(f->db) / POPULATE_SHARE)
		populate(s, f);
	for (i = 0; i < f->waiting_count; i++) {
		const struct waiting *w = &f->waiting[i];

		if (open)
			add_open(s, f, (uint64_t)w->key_high << 32 | w->key_low, w->count);
		else
			add_lost(s, f, w->count);
	}
	store_forget_waiting(s, f);
	if (open) {
		store_settle(s);
		store_account(s, f);
	}
}

/* Opens the file and adds its waiting counts. While descriptors are lacking they wait on, if there
 * is room. Returns false if they were lost. */
static bool write_waiting(struct store *s, struct store_file *f)
{
	int r = store_open_file(s, f);

	if (store_is_lack(r) && !s->is_ending && s->closed_size <= s->waiting_max)
		return true;
	add_all_waiting(s, f);
	return r == 0;
}

static void add_waiting(struct store *s, struct store_file *f, uint64_t key, uint32_t count)
{
	if (f->waiting_count == f->waiting_room) {
		s->closed_size -= waiting_size(f);
		if (!f->waiting) {
			s->waiting_files++;
			f->waiting_since = s->tick;
		}
		f->waiting_room = f->waiting_room ? f->waiting_room * 2 : WAITING_FIRST;
		f->waiting = xreallocarray(f->waiting, f->waiting_room, sizeof(*f->waiting));
		s->closed_size += waiting_size(f);
	}
	f->waiting[f->waiting_count++] =
		(struct waiting){ (uint32_t)key, (uint32_t)(key >> 32), count };
	s->waiting++;
	if (f->waiting_count % WAITING_FULL == 0 && !store_opens_later(s, f) && write_waiting(s, f))
		store_evict(s, f);
}

/* Returns whether the file is used more often than the one that would be closed for it. */
static bool is_busy(const struct store *s, const struct store_file *f)
{
	const struct store_file *oldest = s->open.oldest;

	return !oldest ||
	       (s->tick - f->waiting_since) / (f->waiting_count + 1) < s->tick - oldest->used_at;
}

/* Returns whether another file can be opened without closing one; eviction leaves some room. */
static bool has_room(const struct store *s)
{
	return s->open_count < s->open_max && s->mapped < s->mapped_max - s->mapped_max / 8;
}

/* Writes the waiting counts of a file, which stays open if that is worthwhile. Returns false if
 * they wait on. */
static bool unload(struct store *s, struct store_file *f)
{
	bool keep = has_room(s) || is_busy(s, f);
	bool is_lost = !write_waiting(s, f);

	if (!is_lost && !f->db)
		return false;
	if (is_lost || !keep)
		store_drop(s, f);
	else
		store_evict(s, f);
	return true;
}

/* Takes over the files that the thread has opened. */
static void take_opened(struct store *s)
{
	struct made_file made;
	bool has_shrunk = false;

	store_settle(s);
	while (store_opener_take(s->opener, &made)) {
		struct store_file *f = made.data;
		bool keep = has_room(s) || is_busy(s, f);

		f->opening = false;
		s->opening_count--;
		f->sf = made.sf;
		if (f->sf)
			store_note_open(s, f);
		else if (store_is_lack(made.code)) {
			if (!has_shrunk && !(has_shrunk = store_shrink(s)))
				store_opener_lacks(s->opener, made.code, &made.err);
			continue; /* it is asked for again */
		} else
			f->retry_at = store_opener_failed(s->opener, made.code, &made.err);
		add_all_waiting(s, f);
		if (!keep)
			store_drop(s, f);
		else
			store_evict(s, f);
	}
}

/* Makes room: writes the counts of some files, of those that have most of them. The next call goes
 * on with the others. */
static void unload_some(struct store *s)
{
	size_t average = s->waiting_files ? s->waiting / s->waiting_files : 0;
	struct store_file *f;

	store_settle(s);
	for (int i = 0; i < UNLOAD_SOME && (f = s->closed.oldest); i++) {
		list_remove(&s->closed, f);
		list_push(&s->closed, f);
		if (f->waiting_count >= average && !f->opening)
			(void)unload(s, f);
	}
}

static bool is_chosen(const struct store_choice *choice, const struct store_file *f)
{
	uint64_t tick = !f->db ? f->waiting_since : choice->by_opening ? f->opened_at : f->used_at;

	return tick <= choice->until_tick &&
	       (!choice->leaves || choice->leaves(&f->key, choice->data));
}

/* Closes the chosen open files, or unloads the closed ones. */
static bool leave(struct store *s, const struct store_choice *choice, bool open)
{
	struct store_file *f, *newer;
	bool is_done = true;

	/* Unloading evicts only open files, so the next closed one stays valid. */
	for (f = open ? s->open.oldest : s->closed.oldest; f; f = newer) {
		newer = f->newer;
		if (!is_chosen(choice, f))
			continue;
		if (choice->until_ns && clock_now_ns() > choice->until_ns)
			return false;
		if (open)
			store_drop(s, f);
		else if ((choice->until_ns && store_opens_later(s, f)) || !unload(s, f))
			is_done = false;
	}
	return is_done;
}

/* --- the public side --- */

/* Enforces the limits before a file is returned. */
static void keep_bounds(struct store *s)
{
	if (s->growing)
		store_account(s, s->growing);
	s->growing = NULL;
	if (_unlikely_(store_is_over(s)))
		store_evict(s, NULL);
	if (_unlikely_(s->closed_size > s->waiting_max))
		unload_some(s);
}

/* Returns whether a file is to be opened now. Many new ones are opened over several turns. */
static bool may_open(struct store *s)
{
	return has_room(s) && s->may_open && s->may_open--;
}

struct store_file *store_get(struct store *s, const struct store_key *key)
{
	struct store_file *f;
	struct store_list *list;

	s->tick++;
	keep_bounds(s);
	f = key->image->recent;
	if (!f || !store_key_equal(&f->key, key))
		f = lookup(s, key);
	key->image->recent = f;
	f->used_at = s->tick;
	if (_unlikely_(!f->db) && (f->retry_at || may_open(s)) && !store_opens_later(s, f) &&
	    !write_waiting(s, f))
		return NULL;
	list = list_of(s, f);
	if (list->newest != f) {
		list_remove(list, f);
		list_push(list, f);
	}
	s->growing = f->db ? f : NULL;
	return f;
}

void store_add(struct store *s, struct store_file *f, uint64_t key, uint64_t count)
{
	uint32_t value = (uint32_t)MIN(count, (uint64_t)UINT32_MAX);

	if (s->past)
		past_count(s->past, &f->key, &f->past_mark, key, count);
	if (_likely_(f->db))
		add_open(s, f, key, value);
	else
		add_waiting(s, f, key, value);
}

bool store_is_lacking(const struct store *s)
{
	return store_opener_is_lacking(s->opener);
}

bool store_leave(struct store *s, const struct store_choice *choice, bool open)
{
	bool is_done;

	store_settle(s);
	if (!choice->until_ns) {
		relief_leave(s->relief);
		store_opener_wait(s->opener);
		relief_return(s->relief);
	}
	take_opened(s);
	if (!choice->until_ns)
		store_opener_retry(s->opener);
	is_done = leave(s, choice, false);
	/* What cannot be opened keeps no other file open. */
	if (open && (is_done || store_is_lacking(s)))
		is_done &= leave(s, choice, true);
	return is_done;
}

bool store_turn(struct store *s, uint64_t until_ns)
{
	const struct store_choice all = { .until_tick = UINT64_MAX, .until_ns = until_ns };

	s->may_open = OPEN_IN_TURN;
	if (_unlikely_(s->open_max < s->open_most))
		store_regain(s, clock_now_ns());
	take_opened(s);
	if (s->waiting_files && has_room(s))
		return !store_leave(s, &all, false) && !store_is_lacking(s);
	return false;
}

uint64_t store_tick(const struct store *s)
{
	return s->tick;
}

void store_flush(struct store *s)
{
	(void)store_leave(s, &(struct store_choice){ .until_tick = UINT64_MAX }, false);
}

void store_end(struct store *s)
{
	s->is_ending = true;
	store_flush(s);
	s->is_ending = false;
}

void store_close_all(struct store *s)
{
	s->is_ending = true;
	(void)store_leave(s, &(struct store_choice){ .until_tick = UINT64_MAX }, true);
	s->is_ending = false;
	store_opener_forget(s->opener);
}

struct past *store_past(const struct store *s)
{
	return s->past;
}

uint64_t store_lost(const struct store *s, enum store_loss loss)
{
	return s->lost[loss];
}

uint64_t store_waiting(const struct store *s)
{
	uint64_t sum = 0;

	for (const struct store_file *f = s->closed.oldest; f; f = f->newer)
		for (uint32_t i = 0; i < f->waiting_count && f->key.event < s->sample_events; i++)
			sum += f->waiting[i].count;
	return sum;
}

size_t store_open_files(struct store *s, size_t *ret_mapped)
{
	if (s->growing)
		store_account(s, s->growing);
	if (ret_mapped)
		*ret_mapped = s->mapped;
	return s->open_count;
}
