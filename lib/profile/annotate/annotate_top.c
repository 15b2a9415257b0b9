/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/annotate_top.h"

#include "base/mem.h"
#include "profile/annotate/annotate.h"

#include <string.h>

/* The best ones so far, most samples first. */
struct best {
	struct annotate_choice *list;
	size_t count, most;
};

/* Puts a symbol in its place: after those with as many samples, which were offered earlier. */
static void offer(struct best *b, const struct annotate_choice *choice)
{
	size_t at = b->count;

	while (at && b->list[at - 1].sum < choice->sum)
		at--;
	if (at == b->most)
		return;
	b->count = MIN(b->count + 1, b->most);
	memmove(&b->list[at + 1], &b->list[at], (b->count - 1 - at) * sizeof(*b->list));
	b->list[at] = *choice;
}

static void offer_all(struct best *b, const struct annotate *a, const struct annotate_view *v)
{
	size_t i;

	for (i = 0; i < v->symbol_count; i++) {
		const struct annotate_symbol *s = &v->symbols[i];

		if (s->is_wanted)
			offer(b, &(struct annotate_choice){ v->image->image, s->first,
							    annotate_sum(a, s->counts) });
	}
}

void annotate_top(struct annotate *a, struct binaries *bs, size_t count)
{
	struct best best = { .most = count };
	struct annotate first = *a;
	size_t i;

	best.list = xcalloc(count + 1, sizeof(*best.list));
	/* What is not shown is known only when the choice is made. */
	first.rest = NULL;
	first.rest_count = first.rest_room = 0;
	for (i = 0; i < a->image_count; i++) {
		struct annotate_view view;

		/* Images are sorted: no symbol of the others has more. */
		if (best.count == count && a->images[i].sum <= best.list[count - 1].sum)
			break;
		annotate_open(&first, i, bs, &view);
		offer_all(&best, a, &view);
		annotate_close(&view);
	}
	free(first.rest);
	a->totals.arena = first.totals.arena;
	a->chosen = best.list;
	a->chosen_count = best.count;
}
