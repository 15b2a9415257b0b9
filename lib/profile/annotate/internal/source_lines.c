/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/internal/source_lines.h"

#include "base/mem.h"

#include <stdlib.h>

void line_samples_add_head(struct line_samples *s, const struct head *head)
{
	array_grow(&s->heads, s->head_count + 1, &s->head_room);
	s->heads[s->head_count++] = *head;
}

void line_samples_done(struct line_samples *s)
{
	map_done(&s->lines);
	free(s->heads);
}
