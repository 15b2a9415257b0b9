/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Does the additions to open files that are pending, all at once: while one waits for memory, that
 * of the next ones is fetched. */

#include "record/store/store.h"

#include "helper/relief.h"
#include "record/store/store_state.h"

/* Prefetches the memory of all pending additions. */
static void fetch(const struct store *s, enum odb_step step)
{
	for (unsigned int i = 0; i < s->pending_count; i++)
		odb_prefetch(s->pending[i].file->db, s->pending[i].key, step);
}

/* Does a pending addition. */
static void finish(struct store *s, const struct addition *a)
{
	int r = odb_add(a->file->db, a->key, a->count);

	if (_unlikely_(r < 0)) {
		add_lost(s, a->file, a->count);
		store_opener_complain(s->opener, &a->file->key, r);
	}
}

void store_settle(struct store *s)
{
	if (!s->pending_count)
		return;
	relief_leave(s->relief);
	fetch(s, ODB_STEP_BUCKET);
	fetch(s, ODB_STEP_FIRST);
	fetch(s, ODB_STEP_SECOND);
	for (unsigned int i = 0; i < s->pending_count; i++)
		finish(s, &s->pending[i]);
	relief_return(s->relief);
	s->pending_count = 0;
}
