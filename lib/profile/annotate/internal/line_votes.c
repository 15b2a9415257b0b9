/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/internal/line_votes.h"

#include "base/macro.h"
#include "base/mem.h"

#include <stdlib.h>

static uint64_t key_of(uint32_t file, unsigned int line)
{
	return (uint64_t)file << 32 | line;
}

static void increment(struct map *m, uint64_t key)
{
	(void)map_set(m, key, (void *)((uintptr_t)map_get(m, key) + 1));
}

void line_votes_add_code(struct line_votes *v, unsigned int side, uint32_t file, unsigned int line)
{
	increment(&v->codes[side], key_of(file, line));
}

void line_votes_add(struct line_votes *v, uint32_t file, unsigned int from, unsigned int to)
{
	uint64_t hash = hash_add(key_of(file, from), to);
	uintptr_t number;

	map_for_each_of(&v->by_hash, hash, number)
	{
		struct line_vote *known = &v->list[number - 1];

		if (known->file != file || known->from != from || known->to != to)
			continue;
		known->count++;
		return;
	}
	array_grow(&v->list, v->count + 1, &v->room);
	v->list[v->count++] = (struct line_vote){ file, from, to, 1 };
	map_add(&v->by_hash, hash, (void *)(uintptr_t)v->count);
}

static int compare_votes(const void *pa, const void *pb)
{
	const struct line_vote *a = pa, *b = pb;

	if (a->file != b->file)
		return (a->file > b->file) - (a->file < b->file);
	return (a->from > b->from) - (a->from < b->from);
}

void line_votes_count(struct line_votes *v)
{
	size_t i, n = 0;

	for (i = 0; i < v->count; i++) {
		const struct line_vote *vote = &v->list[i];
		uint64_t twice = 2 * (uint64_t)vote->count;

		/* Most of the instructions of both lines, so no line wins twice. */
		if (twice > (uintptr_t)map_get(&v->codes[LINE_FIRST],
					       key_of(vote->file, vote->from)) &&
		    twice > (uintptr_t)map_get(&v->codes[LINE_SECOND],
					       key_of(vote->file, vote->to)))
			v->list[n++] = *vote;
	}
	v->count = n;
	if (n)
		qsort(v->list, n, sizeof(*v->list), compare_votes);
	map_done(&v->by_hash);
}

unsigned int line_votes_find(const struct line_votes *v, uint32_t file, unsigned int line)
{
	const struct line_vote wanted = { .file = file, .from = line }, *below, *above;
	size_t at = FIRST_NOT(i, 0, v->count, compare_votes(&v->list[i], &wanted) < 0);

	above = at < v->count && v->list[at].file == file ? &v->list[at] : NULL;
	below = at > 0 && v->list[at - 1].file == file ? &v->list[at - 1] : NULL;
	if (above && above->from == line)
		return above->to;
	if (!above || !below || above->to <= below->to ||
	    above->to - below->to != above->from - below->from)
		return 0;
	return below->to + (line - below->from);
}

void line_votes_done(struct line_votes *v)
{
	free(v->list);
	map_done(&v->by_hash);
	map_done(&v->codes[LINE_FIRST]);
	map_done(&v->codes[LINE_SECOND]);
	*v = (struct line_votes){ 0 };
}
