/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/store/store_open.h"

#include "base/clock.h"
#include "base/log.h"
#include "helper/relief.h"
#include "record/store/sampled_image.h"
#include "sfile/sfile.h"

#include <errno.h>

enum { OPENING_MIN = 4 }; /* files that a thread may open although there is no room */
#define REGAIN_NS (10 * NS_PER_S)

void store_account(struct store *s, struct store_file *f)
{
	size_t mapped = f->db ? odb_mapped_bytes(f->db) : 0;

	s->mapped += mapped - f->mapped;
	f->mapped = mapped;
}

void store_forget_waiting(struct store *s, struct store_file *f)
{
	s->waiting_files -= f->waiting != NULL;
	s->waiting -= f->waiting_count;
	s->closed_size -= waiting_size(f);
	free(f->waiting);
	f->waiting = NULL;
	f->waiting_count = f->waiting_room = 0;
}

void store_drop(struct store *s, struct store_file *f)
{
	(void)map_remove_value(&s->by_hash, f->hash, f);
	list_remove(list_of(s, f), f);
	if (f->key.image->recent == f)
		f->key.image->recent = NULL;
	if (s->growing == f)
		s->growing = NULL;
	store_forget_waiting(s, f);
	s->mapped -= f->mapped;
	s->open_count -= f->db != NULL;
	s->closed_size -= f->db ? 0 : sizeof(*f);
	relief_leave(s->relief);
	sfile_close(f->sf);
	relief_return(s->relief);
	free(f);
}

bool store_is_over(const struct store *s)
{
	return s->open_count > s->open_max || s->mapped > s->mapped_max;
}

void store_evict(struct store *s, const struct store_file *needed)
{
	store_settle(s);
	while (store_is_over(s) && s->open.oldest && s->open.oldest != needed)
		store_drop(s, s->open.oldest);
}

bool store_is_lack(int code)
{
	return code == -EMFILE || code == -ENFILE || code == -ENOMEM;
}

bool store_shrink(struct store *s)
{
	store_settle(s);
	if (!s->open.oldest)
		return false;
	if (s->open_count < OPEN_MIN) {
		store_drop(s, s->open.oldest);
		return true;
	}
	if (s->open_max == s->open_most)
		log_info("only %zu sample files can be open at a time", s->open_count);
	s->open_max = s->open_count - s->open_count / 8 - 1;
	s->regain_at = clock_now_ns() + REGAIN_NS;
	store_evict(s, NULL);
	return true;
}

void store_regain(struct store *s, uint64_t now_ns)
{
	if (s->open_max >= s->open_most || now_ns < s->regain_at)
		return;
	s->open_max = MIN(s->open_max + s->open_max / 16 + 1, s->open_most);
	s->regain_at = now_ns + REGAIN_NS;
	if (s->open_max == s->open_most)
		log_info("%zu sample files can be open at a time again", s->open_max);
}

void store_note_open(struct store *s, struct store_file *f)
{
	f->retry_at = 0;
	list_remove(&s->closed, f);
	s->closed_size -= sizeof(*f);
	f->db = sfile_odb(f->sf);
	list_push(&s->open, f);
	s->open_count++;
	f->opened_at = s->tick;
}

static int open_now(struct store *s, struct store_file *f, struct error *err)
{
	int r;

	relief_leave(s->relief);
	r = store_opener_open(s->opener, &f->key, &f->sf, err);
	relief_return(s->relief);
	return r;
}

int store_open_file(struct store *s, struct store_file *f)
{
	struct error err = ERROR_INIT;
	int r;

	if (store_opener_is_lacking(s->opener))
		return -EMFILE;
	if (!store_opener_may_try(s->opener, f->retry_at))
		return -EAGAIN;
	r = open_now(s, f, &err);
	if (store_is_lack(r) && store_shrink(s))
		r = open_now(s, f, &err);
	if (r == 0)
		store_note_open(s, f);
	else if (store_is_lack(r))
		store_opener_lacks(s->opener, r, &err);
	else
		f->retry_at = store_opener_failed(s->opener, r, &err);
	return r;
}

bool store_opens_later(struct store *s, struct store_file *f)
{
	if (store_opener_is_alone(s->opener) || f->retry_at)
		return false;
	if (!f->opening && !store_opener_is_lacking(s->opener) &&
	    (s->open_count + s->opening_count < s->open_max || s->opening_count < OPENING_MIN)) {
		f->opening = store_opener_ask(s->opener, &f->key, f);
		s->opening_count += f->opening;
	}
	return !store_opener_is_alone(s->opener);
}
