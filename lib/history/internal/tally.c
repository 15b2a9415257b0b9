/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/tally.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS_MIN = 1 << 10 };

void tally_grow(struct tally *t)
{
	struct tally old = *t;
	size_t room = old.slots ? (old.mask + 1) * 2 : SLOTS_MIN, i;

	*t = (struct tally){ xcalloc(room, sizeof(*t->slots)), room - 1, 0 };
	for (i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].file)
			tally_add(t, old.slots[i]);
	free(old.slots);
}

static int compare(const void *pa, const void *pb)
{
	const struct history_count *a = pa, *b = pb;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->step > b->step) - (a->step < b->step);
}

struct history_count *tally_take(struct tally *t, size_t *ret_count)
{
	struct history_count *sorted = xcalloc(t->used + 1, sizeof(*sorted));
	size_t n = 0, i;

	for (i = 0; t->slots && i <= t->mask; i++)
		if (t->slots[i].file)
			sorted[n++] = t->slots[i];
	qsort(sorted, n, sizeof(*sorted), compare);
	if (t->slots)
		memset(t->slots, 0, (t->mask + 1) * sizeof(*t->slots));
	t->used = 0;
	*ret_count = n;
	return sorted;
}

void tally_done(struct tally *t)
{
	free(t->slots);
	*t = TALLY_INIT;
}
