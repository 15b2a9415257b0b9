/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/chains.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

#include <string.h>

static bool same_line(const struct chains *c, const struct chains_line *a,
		      const struct chains_line *b)
{
	return a->app == b->app && a->end == b->end && a->count == b->count &&
	       !memcmp(c->frames + a->first, c->frames + b->first, a->count * sizeof(*c->frames));
}

static uint64_t hash_of_line(const struct chains *c, const struct chains_line *line)
{
	return hash_add(hash_bytes(c->frames + line->first, line->count * sizeof(*c->frames)),
			(uint64_t)line->app << 32 | line->end);
}

struct chains_line *chains_find_line(const struct chains *c, const struct map *by_hash,
				     const struct chains_line *line)
{
	uintptr_t number;

	map_for_each_of(by_hash, hash_of_line(c, line),
			number) if (same_line(c, &c->lines[number - 1],
					      line)) return &c->lines[number - 1];
	return NULL;
}

struct chains_line *chains_add_line(struct chains *c, struct map *by_hash,
				    const struct chains_line *line)
{
	struct chains_line *added;

	array_grow(&c->lines, c->line_count + 1, &c->line_room);
	added = &c->lines[c->line_count];
	*added = *line;
	added->id = (uint32_t)c->line_count++;
	map_add(by_hash, hash_of_line(c, added), (void *)(uintptr_t)c->line_count);
	c->frame_count += line->count;
	return added;
}

void chains_index_lines(const struct chains *c, struct map *by_hash)
{
	size_t i;

	for (i = 0; i < c->line_count; i++)
		map_add(by_hash, hash_of_line(c, &c->lines[i]), (void *)(uintptr_t)(i + 1));
}
