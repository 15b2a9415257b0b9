/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/pile.h"

#include <stdlib.h>
#include <string.h>

void pile_grow(struct pile *p, uint32_t file)
{
	size_t had = p->files;

	array_grow(&p->last, (size_t)file + 1, &p->last_room);
	p->files = p->last_room;
	memset(p->last + had, 0, (p->files - had) * sizeof(*p->last));
}

void pile_take(struct pile *p, struct tally *t)
{
	size_t i;

	for (i = 0; t->slots && i <= t->mask; i++)
		if (t->slots[i].file)
			pile_add(p, &t->slots[i]);
	tally_done(t);
}

void pile_done(struct pile *p)
{
	free(p->entries);
	free(p->last);
	*p = (struct pile){ 0 };
}
