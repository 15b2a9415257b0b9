/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/arena.h"

#include "base/mem.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

enum { BLOCK_MIN = 1 << 10, BLOCK_MAX = 64 << 10 };

struct arena_block {
	struct arena_block *next;
	alignas(max_align_t) char bytes[];
};

/* The bytes of the next block: as many as there are, so that what is small stays small, and what is
 * large has few blocks. */
static size_t block_size(const struct arena *a)
{
	size_t least = MAX(a->bytes, (size_t)BLOCK_MIN);

	return MIN(least, (size_t)BLOCK_MAX);
}

/* @size bytes at the next address that is a multiple of @align. */
static char *allocate(struct arena *a, size_t size, size_t align)
{
	size_t skip = -(uintptr_t)a->at & (align - 1);
	struct arena_block *block;
	size_t room;
	char *p;

	if (!a->at || (size_t)(a->end - a->at) < skip || (size_t)(a->end - a->at) - skip < size) {
		room = MAX(size, block_size(a) - sizeof(*block));
		block = xmalloc(sizeof(*block) + room);
		block->next = a->blocks;
		a->blocks = block;
		a->bytes += sizeof(*block) + room;
		a->at = block->bytes;
		a->end = block->bytes + room;
		skip = 0;
	}
	p = a->at + skip;
	a->at = p + size;
	return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
	return allocate(a, size, alignof(max_align_t));
}

char *arena_strndup(struct arena *a, const char *s, size_t size)
{
	char *copy = allocate(a, size + 1, 1);

	memcpy(copy, s, size);
	copy[size] = '\0';
	return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

void arena_join(struct arena *a, struct arena *from)
{
	struct arena_block *oldest = from->blocks;

	if (!oldest)
		return;
	while (oldest->next)
		oldest = oldest->next;
	/* After the newest block of @a, which has room left. */
	if (a->blocks) {
		oldest->next = a->blocks->next;
		a->blocks->next = from->blocks;
		a->bytes += from->bytes;
	} else {
		*a = *from;
	}
	*from = ARENA_INIT;
}

void arena_done(struct arena *a)
{
	while (a->blocks) {
		struct arena_block *block = a->blocks;

		a->blocks = block->next;
		free(block);
	}
	*a = ARENA_INIT;
}
