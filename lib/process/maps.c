/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/maps.h"

#include "base/mem.h"
#include "identity/cookie.h"

#include <string.h>

/* Adding a mapping moves only those of its block, in whatever order a process maps memory. */
enum { BLOCK_MAPPINGS = 256 };

struct block {
	struct mapping *list; /* by address, none overlap; at least one */
	size_t count, room;
};

struct maps {
	unsigned int refs;
	struct block *blocks; /* by address */
	size_t block_count, block_room;
	size_t count; /* of mappings */
};

struct maps *maps_new(void)
{
	struct maps *m = xcalloc(1, sizeof(*m));

	m->refs = 1;
	return m;
}

struct maps *maps_ref(struct maps *m)
{
	m->refs++;
	return m;
}

void maps_unref(struct maps *m)
{
	if (!m || --m->refs)
		return;
	while (m->block_count)
		free(m->blocks[--m->block_count].list);
	free(m->blocks);
	free(m);
}

/* Sets the mappings of a block that has none. */
static void fill(struct block *b, const struct mapping *list, size_t count)
{
	array_grow(&b->list, count, &b->room);
	memcpy(b->list, list, count * sizeof(*list));
	b->count = count;
}

/* Replaces *@m by a copy unless the caller holds the only reference. */
static struct maps *unshare(struct maps **m)
{
	const struct maps *from = *m;
	struct maps *copy;
	size_t i;

	if (from->refs == 1)
		return *m;
	copy = maps_new();
	copy->count = from->count;
	copy->block_count = copy->block_room = from->block_count;
	copy->blocks = xcalloc(from->block_count + 1, sizeof(*copy->blocks));
	for (i = 0; i < from->block_count; i++)
		fill(&copy->blocks[i], from->blocks[i].list, from->blocks[i].count);
	maps_unref(*m);
	*m = copy;
	return copy;
}

/* Index of the first block that ends after @address. */
static size_t find_block(const struct maps *m, uint64_t address)
{
	return FIRST_NOT(i, 0, m->block_count,
			 m->blocks[i].list[m->blocks[i].count - 1].end <= address);
}

/* Index of the first mapping of a block that ends after @address. */
static size_t find_mapping(const struct block *b, uint64_t address)
{
	return FIRST_NOT(i, 0, b->count, b->list[i].end <= address);
}

const struct mapping *maps_next(const struct maps *m, uint64_t address)
{
	size_t i = find_block(m, address);

	return i < m->block_count ? &m->blocks[i].list[find_mapping(&m->blocks[i], address)] : NULL;
}

/* Inserts an empty block as the @at-th one. */
static struct block *insert_block(struct maps *m, size_t at)
{
	array_grow(&m->blocks, m->block_count + 1, &m->block_room);
	memmove(m->blocks + at + 1, m->blocks + at, (m->block_count - at) * sizeof(*m->blocks));
	m->block_count++;
	m->blocks[at] = (struct block){ 0 };
	return &m->blocks[at];
}

/* Moves the upper half of a full block to a new one after it. */
static void split_block(struct maps *m, size_t at)
{
	struct block *high = insert_block(m, at + 1), *low = &m->blocks[at];
	size_t half = low->count / 2;

	fill(high, low->list + half, low->count - half);
	low->count = half;
}

/* The block that a mapping at @address belongs to, which has room. */
static struct block *block_for(struct maps *m, uint64_t address)
{
	size_t at = find_block(m, address);

	/* After all others: ascending addresses fill each block. */
	if (at == m->block_count) {
		if (!at || m->blocks[at - 1].count == BLOCK_MAPPINGS)
			return insert_block(m, at);
		return &m->blocks[at - 1];
	}
	if (m->blocks[at].count == BLOCK_MAPPINGS) {
		split_block(m, at);
		at = find_block(m, address);
	}
	return &m->blocks[at];
}

/* Adds a mapping where there is none. */
static void insert(struct maps *m, const struct mapping *mapping)
{
	struct block *b = block_for(m, mapping->start);
	size_t at = find_mapping(b, mapping->start);

	array_grow(&b->list, b->count + 1, &b->room);
	memmove(b->list + at + 1, b->list + at, (b->count - at) * sizeof(*b->list));
	b->list[at] = *mapping;
	b->count++;
	m->count++;
}

/* Removes the first mapping that ends after @address, which must exist. */
static struct mapping take(struct maps *m, uint64_t address)
{
	size_t i = find_block(m, address), at = find_mapping(&m->blocks[i], address);
	struct block *b = &m->blocks[i];
	struct mapping taken = b->list[at];

	m->count--;
	b->count--;
	memmove(b->list + at, b->list + at + 1, (b->count - at) * sizeof(*b->list));
	if (b->count)
		return taken;
	free(b->list);
	m->block_count--;
	memmove(m->blocks + i, m->blocks + i + 1, (m->block_count - i) * sizeof(*m->blocks));
	return taken;
}

void maps_add(struct maps **shared, const struct mapping *mapping)
{
	const struct mapping *next;
	struct maps *m;

	if (mapping->start >= mapping->end)
		return;
	m = unshare(shared);
	while ((next = maps_next(m, mapping->start)) && next->start < mapping->end) {
		struct mapping old = take(m, mapping->start), rest = old;

		rest.end = mapping->start;
		if (rest.start < rest.end)
			insert(m, &rest);
		rest = old;
		rest.offset += mapping->end - rest.start;
		rest.start = mapping->end;
		if (rest.start < rest.end)
			insert(m, &rest);
	}
	insert(m, mapping);
}

const struct mapping *maps_find(const struct maps *m, uint64_t address)
{
	const struct mapping *next = maps_next(m, address);

	return next && next->start <= address ? next : NULL;
}

size_t maps_count(const struct maps *m)
{
	return m->count;
}

/* --- what a mapping shows --- */

/* Kernel names of memory without a file that are kept; all other such memory is "anon". */
static const char *const labels[] = { "[heap]", "[stack]", "[uprobes]", "[vsyscall]" };

/* Kernel names of anonymous memory, private and shared, and of huge pages. */
static const char *const anonymous[] = { "//anon", "/anon_hugepage", "/dev/zero" };

/* The label of memory that the kernel calls @path; NULL if that is a file. */
static const char *label_of(const char *path)
{
	size_t i, length;

	for (i = 0; i < ARRAY_SIZE(labels); i++)
		if (!strcmp(path, labels[i]))
			return labels[i];
	for (i = 0; i < ARRAY_SIZE(anonymous); i++) {
		length = strlen(anonymous[i]);
		if (!strncmp(path, anonymous[i], length) &&
		    (!path[length] || !strcmp(path + length, " (deleted)")))
			return "anon";
	}
	/* "[anon:name]", which records do not show, and any other name in brackets. */
	return !*path || *path == '[' ? "anon" : NULL;
}

void mapping_from(const struct mapping_source *source, struct cookie_table *cookies,
		  struct mapping *ret)
{
	*ret = (struct mapping){ .start = source->start, .end = source->end };
	if (!strcmp(source->path, "[vdso]")) {
		ret->cookie = source->start >> 32
				      ? cookie_vdso(cookies)
				      : cookie_vdso_32(cookies, source->end - source->start);
		return;
	}
	ret->label = label_of(source->path);
	if (ret->label)
		return;
	ret->offset = source->offset;
	ret->cookie = cookie_file(cookies, &source->file, source->path);
}
