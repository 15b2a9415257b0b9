/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/maps.h"

#include "base/mem.h"
#include "identity/cookie.h"

#include <string.h>

struct maps {
	unsigned int refs;
	struct mapping *list; /* by address, none overlap */
	size_t count, room;
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
	free(m->list);
	free(m);
}

/* Replaces *@m by a copy unless the caller holds the only reference. */
static struct maps *unshare(struct maps **m)
{
	struct maps *copy;

	if ((*m)->refs == 1)
		return *m;
	copy = maps_new();
	array_grow(&copy->list, (*m)->count + 1, &copy->room);
	memcpy(copy->list, (*m)->list, (*m)->count * sizeof(*copy->list));
	copy->count = (*m)->count;
	maps_unref(*m);
	*m = copy;
	return copy;
}

/* Index of the first mapping that ends after @address. */
static size_t first_after(const struct maps *m, uint64_t address)
{
	return FIRST_NOT(i, 0, m->count, m->list[i].end <= address);
}

/* Replaces the @old mappings at index @at by @new others. */
static void splice(struct maps *m, size_t at, size_t old, const struct mapping *with, size_t new)
{
	size_t tail = m->count - at - old;

	array_grow(&m->list, m->count + new, &m->room);
	memmove(m->list + at + new, m->list + at + old, tail * sizeof(*m->list));
	memcpy(m->list + at, with, new * sizeof(*m->list));
	m->count = m->count - old + new;
}

void maps_add(struct maps **shared, const struct mapping *mapping)
{
	struct maps *m;
	struct mapping with[3];
	size_t at, end, new = 0;

	if (mapping->start >= mapping->end)
		return;
	m = unshare(shared);
	at = end = first_after(m, mapping->start);
	while (end < m->count && m->list[end].start < mapping->end)
		end++;
	/* [at, end) overlap: the head of the first may remain, and the tail of the last. */
	if (at < end && m->list[at].start < mapping->start) {
		with[new] = m->list[at];
		with[new ++].end = mapping->start;
	}
	with[new ++] = *mapping;
	if (at < end && m->list[end - 1].end > mapping->end) {
		with[new] = m->list[end - 1];
		with[new].offset += mapping->end - with[new].start;
		with[new ++].start = mapping->end;
	}
	splice(m, at, end - at, with, new);
}

const struct mapping *maps_find(const struct maps *m, uint64_t address)
{
	size_t i = first_after(m, address);

	return i < m->count && m->list[i].start <= address ? &m->list[i] : NULL;
}

size_t maps_count(const struct maps *m)
{
	return m->count;
}

const struct mapping *maps_at(const struct maps *m, size_t i)
{
	return &m->list[i];
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
	/* That of a 32-bit process is another one. */
	if (!strcmp(source->path, "[vdso]") && source->start >> 32) {
		ret->cookie = cookie_vdso(cookies);
		return;
	}
	ret->label = label_of(source->path);
	if (ret->label)
		return;
	ret->offset = source->offset;
	ret->cookie = cookie_file(cookies, &source->file, source->path);
}
