/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/internal/annotate_rows.h"

#include "base/mem.h"
#include "profile/annotate/annotate.h"
#include "profile/print/losses.h"
#include "profile/rows/diff.h"
#include "profile/select/classes.h"
#include "profile/select/gather.h"

#include <string.h>

void annotate_rows_init(struct annotate_rows *r, const struct annotate_diff_side sides[2])
{
	*r = (struct annotate_rows){ .slots = { sides[0].classes->steps,
						sides[1].classes->steps } };
	container_init_classes(&r->sides[0], sides[0].classes);
	container_init_classes(&r->sides[1], sides[1].classes);
}

void annotate_rows_done(struct annotate_rows *r)
{
	unsigned int side;

	for (side = 0; side < 2; side++) {
		free(r->counts[side]);
		free(r->rows[side]);
		container_done(&r->sides[side]);
	}
}

uint32_t annotate_rows_add(struct annotate_rows *r, unsigned int side, const struct row *row)
{
	array_grow(&r->counts[side], r->added[side] + 1, &r->room[side]);
	r->counts[side][r->added[side]++] = container_add_row(&r->sides[side], row)->counts;
	return (uint32_t)r->added[side] - 1;
}

uint64_t *annotate_rows_counts(struct annotate_rows *r, unsigned int side, uint32_t number)
{
	return r->counts[side][number];
}

void annotate_rows_settle(struct annotate_rows *r, const struct annotate_diff_side sides[2])
{
	unsigned int side;
	size_t i;

	for (side = 0; side < 2; side++) {
		const struct annotate_diff_side *of = &sides[side];
		struct container *c = &r->sides[side];

		memcpy(c->totals, of->annotate->totals.totals, c->class_count * sizeof(*c->totals));
		if (of->gather->blocks)
			container_join_blocks_of(c, of->gather, r->slots[side]);
		losses_set_noise(of->losses, of->gather, of->classes, c);
		r->rows[side] = xcalloc(r->added[side] + 1, sizeof(*r->rows[side]));
		for (i = 0; i < r->added[side]; i++)
			r->rows[side][i] = GATHER_NONE;
		for (i = 0; i < c->count; i++)
			r->rows[side][c->rows[i].id] = (uint32_t)i;
	}
}

void annotate_rows_compare(struct annotate_rows *r, const uint32_t *images,
			   const uint32_t *partners)
{
	struct container *first = &r->sides[0], *second = &r->sides[1];
	_cleanup_free_ uint32_t *rows = xcalloc(first->count + 1, sizeof(*rows));
	size_t i;

	for (i = 0; i < first->count; i++) {
		uint32_t partner = partners[first->rows[i].id];

		rows[i] = partner == GATHER_NONE ? GATHER_NONE : r->rows[1][partner];
	}
	diff_join(first, second, images, rows);
	diff_judge(second, DIFF_SHARE);
	for (i = 0; i < r->added[0]; i++)
		if (r->rows[0][i] != GATHER_NONE)
			r->rows[0][i] = rows[r->rows[0][i]];
	for (i = 0; i < r->added[0]; i++)
		if (r->rows[0][i] != GATHER_NONE && partners[i] != GATHER_NONE)
			r->rows[1][partners[i]] = r->rows[0][i];
}

const struct row *annotate_rows_at(const struct annotate_rows *r, unsigned int side,
				   uint32_t number)
{
	uint32_t row = number == GATHER_NONE ? GATHER_NONE : r->rows[side][number];

	return row == GATHER_NONE ? NULL : &r->sides[1].rows[row];
}
