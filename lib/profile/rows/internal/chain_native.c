/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/internal/chain_native.h"

#include "base/mem.h"
#include "profile/rows/container.h"
#include "profile/select/gather.h"

#include <stdbool.h>

/* What to do with a row, as a pointer that is not NULL: another one in its place, left out. */
enum { IS_KNOWN = 1, IS_INTERPRETED = 2, ID_SHIFT = 2 };

/* The id of the first row that is the same as @row; row number @id, or a new one, may be it. */
static uint32_t loop_row(struct chain_native *n, const struct row *row, uint32_t id, bool is_new)
{
	size_t at = row_join_find(&n->loops, n->rows, n->gather, row);

	if (at != SIZE_MAX)
		return (uint32_t)at;
	if (is_new)
		id = container_add_row(n->rows, row)->id;
	row_join_note(&n->loops, row, id);
	return id;
}

static uintptr_t look_at(struct chain_native *n, uint32_t app, uint32_t id)
{
	struct row row = n->rows->rows[id];
	const uint32_t image = row.image;
	bool is_moved = false;

	row.app = app;
	if (row_join_loop(n->rows, n->gather, &row, &n->interpreters)) {
		row.app = GATHER_NONE;
		is_moved = row.image != image;
		id = loop_row(n, &row, id, is_moved);
	}
	return (uintptr_t)id << ID_SHIFT | IS_KNOWN | (is_moved ? IS_INTERPRETED : 0);
}

static uintptr_t known_of(struct chain_native *n, uint32_t app, uint32_t id)
{
	const uint64_t key = (uint64_t)app << 32 | id;
	uintptr_t known = (uintptr_t)map_get(&n->of_row, key);

	if (!known) {
		known = look_at(n, app, id);
		(void)map_set(&n->of_row, key, (void *)known);
	}
	return known;
}

uint32_t chain_native_take(struct chain_native *n, uint32_t app, uint32_t *ids, uint32_t count)
{
	uint32_t i, kept = 0;

	for (i = 0; i < count; i++) {
		const uintptr_t known = known_of(n, app, ids[i]);

		if (!i || !(known & IS_INTERPRETED))
			ids[kept++] = (uint32_t)(known >> ID_SHIFT);
	}
	return kept;
}

void chain_native_done(struct chain_native *n)
{
	row_join_done(&n->loops);
	map_done(&n->interpreters);
	map_done(&n->of_row);
}
