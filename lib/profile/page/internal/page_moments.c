/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/page/internal/page_moments.h"

#include "base/mem.h"

#include <stdlib.h>

void page_moments_add(struct page_moments *m, struct page_moment moment)
{
	array_grow(&m->list, m->count + 1, &m->room);
	m->list[m->count++] = moment;
}

static int by_place_and_step(const void *a, const void *b)
{
	const struct page_moment *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return (x->step > y->step) - (x->step < y->step);
}

void page_moments_merge(struct page_moments *m)
{
	size_t i, n = 0;

	if (m->count)
		qsort(m->list, m->count, sizeof(*m->list), by_place_and_step);
	for (i = 0; i < m->count; i++) {
		if (n && by_place_and_step(&m->list[n - 1], &m->list[i]) == 0)
			m->list[n - 1].samples += m->list[i].samples;
		else
			m->list[n++] = m->list[i];
	}
	m->count = n;
}

void page_moments_done(struct page_moments *m)
{
	free(m->list);
	*m = (struct page_moments){ 0 };
}
