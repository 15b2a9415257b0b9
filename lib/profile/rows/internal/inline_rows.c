/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/internal/inline_rows.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "dwarf/lines.h"

#include <string.h>

struct known {
	struct inline_rows_call call;
	const char *function; /* as in lines.h */
};

struct inline_rows {
	struct container *container;
	struct lines *lines;
	bool by_place;
	struct map known; /* by hash of name and place */
	struct arena arena;
	struct inline_rows_call **found;
	size_t room;
};

struct inline_rows *inline_rows_new(struct container *c, struct lines *lines, bool by_place)
{
	struct inline_rows *in = xcalloc(1, sizeof(*in));

	in->container = c;
	in->lines = lines;
	in->by_place = by_place;
	return in;
}

void inline_rows_free(struct inline_rows *in)
{
	if (!in)
		return;
	map_done(&in->known);
	arena_done(&in->arena);
	free(in->found);
	free(in);
}

static bool is_same_place(const struct row_place *a, const struct lines_place *b)
{
	return a->line == b->line && !strcmp(a->file ?: "", b->file ?: "");
}

static struct known *add(struct inline_rows *in, const struct lines_call *call)
{
	struct container *c = in->container;
	struct known *known = arena_alloc(&in->arena, sizeof(*known));

	*known = (struct known){ .call = { .symbol = container_symbol(c, call->function),
					   .address = call->start,
					   .row = UINT32_MAX },
				 .function = call->function };
	if (in->by_place && call->at.file)
		known->call.place =
			(struct row_place){ arena_strdup(&c->arena, call->at.file), call->at.line };
	return known;
}

static struct inline_rows_call *know(struct inline_rows *in, const struct lines_call *call)
{
	struct lines_place at =
		in->by_place && call->at.file ? call->at : (struct lines_place){ NULL, 0 };
	uint64_t hash = hash_bytes(call->function, strlen(call->function));
	struct known *known;

	if (at.file)
		hash = hash_add(hash_add(hash, hash_bytes(at.file, strlen(at.file))), at.line);
	map_for_each_of(&in->known, hash,
			known) if (!strcmp(known->function, call->function) &&
				   is_same_place(&known->call.place, &at)) return &known->call;
	known = add(in, call);
	map_add(&in->known, hash, known);
	return &known->call;
}

size_t inline_rows_find(struct inline_rows *in, uint64_t address,
			struct inline_rows_call *const **ret)
{
	const struct lines_call *calls = NULL;
	size_t i, n = lines_inlines(in->lines, address, &calls);

	array_grow(&in->found, n, &in->room);
	for (i = 0; i < n; i++)
		in->found[i] = know(in, &calls[i]);
	*ret = in->found;
	return n;
}
