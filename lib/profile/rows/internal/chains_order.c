/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/chains.h"

#include "profile/rows/diff.h"
#include "profile/select/gather.h"

#include <stdlib.h>
#include <string.h>

static int compare_differences(const struct chains *c, const struct chains_line *x,
			       const struct chains_line *y)
{
	uint64_t a = diff_rank(&c->by_line, &c->by_line.rows[x->id]);
	uint64_t b = diff_rank(&c->by_line, &c->by_line.rows[y->id]);

	return (a > b) - (a < b);
}

/* By difference, if that is wanted, and falling count; then by name from the outermost frame on, so
 * that two runs print the same. */
static int compare_lines(const void *a, const void *b, void *data)
{
	const struct chains_line *x = a, *y = b;
	const struct chains *c = data;
	size_t i;
	int order = c->by_difference ? compare_differences(c, x, y) : 0;

	if (order)
		return order;
	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	order = strcmp(c->gather->images[x->app].shown, c->gather->images[y->app].shown);
	for (i = 1; order == 0 && i <= x->count && i <= y->count; i++)
		order = strcmp(chains_frame(c, x, x->count - i)->text,
			       chains_frame(c, y, y->count - i)->text);
	if (order == 0)
		order = (x->count > y->count) - (x->count < y->count);
	return order ? order : (x->end > y->end) - (x->end < y->end);
}

static int compare_quality(const void *a, const void *b, void *data)
{
	const struct chains_quality *x = a, *y = b;
	const struct chains *c = data;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return strcmp(c->gather->images[x->image].shown, c->gather->images[y->image].shown);
}

void chains_name(struct chains *c, const struct name_style *style)
{
	container_name(&c->rows, style);
	if (c->line_count)
		qsort_r(c->lines, c->line_count, sizeof(*c->lines), compare_lines, c);
	if (c->quality_count)
		qsort_r(c->quality, c->quality_count, sizeof(*c->quality), compare_quality, c);
}
