/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to the store (store.h): opens its files, at once or in a thread, and closes them.
 */
#pragma once

#include "record/store/store_state.h"

enum { OPEN_MIN = 8 }; /* the limit of open files is not less */

/* The list that has the file. */
static inline struct store_list *list_of(struct store *s, const struct store_file *f)
{
	return f->db ? &s->open : &s->closed;
}

/* Memory of the file's waiting counts. */
static inline size_t waiting_size(const struct store_file *f)
{
	return f->waiting_room * sizeof(*f->waiting);
}

/* Updates the size of the file's database. */
void store_account(struct store *s, struct store_file *f);
/* Forgets the waiting counts of @f, which were added or lost. */
void store_forget_waiting(struct store *s, struct store_file *f);
/* Closes and frees a file that has no pending addition. */
void store_drop(struct store *s, struct store_file *f);
/* Whether more is open or mapped than may be. */
bool store_is_over(const struct store *s);
/* Closes the least recently used files, but not @needed, until the limits are kept. */
void store_evict(struct store *s, const struct store_file *needed);

/* Whether the process ran out of descriptors or mappings. */
bool store_is_lack(int code);
/* Closes files after that, and lowers the limit of open ones; false if none is open. */
bool store_shrink(struct store *s);
/* Raises the limit a little if it was lowered, and nothing has lacked for a while at @now_ns. */
void store_regain(struct store *s, uint64_t now_ns);
/* Notes that a closed file is open now. */
void store_note_open(struct store *s, struct store_file *f);
/* Opens a closed file, unless it failed recently: 0 or -errno. */
int store_open_file(struct store *s, struct store_file *f);
/* Whether a thread opens the file, or will as soon as it can. One that failed before is
 * not opened by it. */
bool store_opens_later(struct store *s, struct store_file *f);
