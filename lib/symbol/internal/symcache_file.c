/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/internal/symcache_file.h"

#include "base/digest.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>

/* The parts of a file, as offsets of their first bytes. */
struct layout {
	uint64_t ends, records, names, sums, size;
	size_t pages;
};

static uint64_t align8(uint64_t n)
{
	return (n + 7) & ~(uint64_t)7;
}

/* Cannot overflow: all counts have 32 bits but that of names, which is checked first. */
static bool lay_out(const struct symcache_header *h, struct layout *ret)
{
	if (h->names_size > UINT32_MAX)
		return false;
	ret->ends = sizeof(*h) + align8(h->key_size);
	ret->records = ret->ends + (uint64_t)h->count * sizeof(uint64_t);
	ret->names = ret->records + (uint64_t)h->count * sizeof(struct symcache_record);
	ret->sums = ret->names + align8(h->names_size);
	ret->pages = (size_t)((ret->sums + SYMCACHE_PAGE - 1) / SYMCACHE_PAGE);
	ret->size = ret->sums + ret->pages * sizeof(uint64_t);
	return true;
}

static uint64_t check_of(const struct symcache_header *h, const char *key, const uint64_t *sums,
			 size_t pages)
{
	uint64_t check = digest_bytes(h, offsetof(struct symcache_header, check), 1);

	check = digest_bytes(key, h->key_size, check);
	return digest_bytes(sums, pages * sizeof(*sums), check);
}

static bool is_ours(const struct symcache_header *h, const char *key)
{
	return !memcmp(h->magic, SYMCACHE_MAGIC, sizeof(h->magic)) &&
	       h->version == SYMCACHE_VERSION && h->order == SYMCACHE_ORDER &&
	       h->key_size == strlen(key);
}

/* Digest of page number @page, @size bytes at @bytes, without the header, whose own check covers
 * the digests. */
static uint64_t sum_page(const uint8_t *bytes, size_t size, size_t page)
{
	size_t skip = page ? 0 : MIN(size, sizeof(struct symcache_header));

	return digest_bytes(bytes + skip, size - skip, page);
}

/* Whether the bytes from @from up to @to are undamaged; verifies their pages once. */
static bool is_whole(struct symcache_view *v, size_t from, size_t to)
{
	size_t end = (size_t)((const uint8_t *)v->sums - v->bytes);
	size_t page = from / SYMCACHE_PAGE, last = (to - 1) / SYMCACHE_PAGE;

	for (; page <= last; page++) {
		size_t at = page * SYMCACHE_PAGE;

		if (v->seen[page])
			continue;
		if (sum_page(v->bytes + at, MIN(end - at, (size_t)SYMCACHE_PAGE), page) !=
		    v->sums[page])
			return false;
		v->seen[page] = 1;
	}
	return true;
}

int symcache_view_init(struct symcache_view *v, const void *bytes, size_t size, const char *key)
{
	const struct symcache_header *h = bytes;
	struct layout at;

	if (size < sizeof(*h) || !is_ours(h, key) || !lay_out(h, &at) || at.size != size ||
	    memcmp(h + 1, key, h->key_size))
		return -EBADMSG;
	*v = (struct symcache_view){ .bytes = bytes, .size = size, .header = h };
	v->ends = (const uint64_t *)(v->bytes + at.ends);
	v->records = (const struct symcache_record *)(v->bytes + at.records);
	v->names = (const char *)v->bytes + at.names;
	v->sums = (const uint64_t *)(v->bytes + at.sums);
	if (check_of(h, key, v->sums, at.pages) != h->check)
		return -EBADMSG;
	v->seen = xcalloc(at.pages, 1);
	/* Verify all ends here, since look-ups search them by bisection. */
	if (h->count && !is_whole(v, at.ends, at.records)) {
		symcache_view_done(v);
		return -EBADMSG;
	}
	return 0;
}

void symcache_view_done(struct symcache_view *v)
{
	free(v->seen);
	v->seen = NULL;
}

/* Whether a complete name is at @at. */
static bool has_name(struct symcache_view *v, uint32_t at)
{
	size_t from = (size_t)((const uint8_t *)v->names - v->bytes) + at;
	size_t end = (size_t)((const uint8_t *)v->names - v->bytes) + v->header->names_size;

	while (from < end) {
		size_t to = MIN(end, (from / SYMCACHE_PAGE + 1) * SYMCACHE_PAGE);

		if (!is_whole(v, from, to))
			return false;
		if (memchr(v->bytes + from, '\0', to - from))
			return true;
		from = to;
	}
	return false;
}

bool symcache_view_read(struct symcache_view *v, size_t i, struct symbol *ret)
{
	const struct symcache_record *r = &v->records[i];
	size_t at = (size_t)((const uint8_t *)r - v->bytes);

	if (!is_whole(v, at, at + sizeof(*r)) || r->whole > i || !has_name(v, r->name))
		return false;
	*ret = (struct symbol){ .offset = r->offset,
				.end = v->ends[i],
				.limit = v->ends[i],
				.address = r->address,
				.name = v->names + r->name,
				.whole = r->whole,
				.rank = r->rank };
	return true;
}

/* A file being written, some pages at a time. */
struct writer {
	int fd;
	int error; /* the first one, negative */
	uint8_t buffer[16 * SYMCACHE_PAGE];
	size_t used;
	uint64_t *sums;
	size_t pages, room;
};

static void put(struct writer *w, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size && !w->error) {
		ssize_t n = write(w->fd, at, size);

		if (n < 0 && errno != EINTR)
			w->error = -errno;
		if (n > 0) {
			at += n;
			size -= (size_t)n;
		}
	}
}

static void flush(struct writer *w)
{
	size_t at, size;

	for (at = 0; at < w->used; at += size) {
		size = MIN(w->used - at, (size_t)SYMCACHE_PAGE);
		array_grow(&w->sums, w->pages + 1, &w->room);
		w->sums[w->pages] = sum_page(w->buffer + at, size, w->pages);
		w->pages++;
	}
	put(w, w->buffer, w->used);
	w->used = 0;
}

static void add(struct writer *w, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	while (size) {
		size_t n = MIN(size, sizeof(w->buffer) - w->used);

		memcpy(w->buffer + w->used, at, n);
		w->used += n;
		at += n;
		size -= n;
		if (w->used == sizeof(w->buffer))
			flush(w);
	}
}

static void add_padding(struct writer *w, uint64_t size)
{
	static const uint8_t zeros[8];

	add(w, zeros, align8(size) - size);
}

static void add_symbols(struct writer *w, const struct symtab *st)
{
	size_t i, n = symtab_count(st);
	uint32_t name = 0;

	for (i = 0; i < n; i++)
		add(w, &symtab_at(st, i)->end, sizeof(uint64_t));
	for (i = 0; i < n; i++) {
		const struct symbol *sym = symtab_at(st, i);
		struct symcache_record r = { .offset = sym->offset,
					     .address = sym->address,
					     .name = name,
					     .whole = sym->whole,
					     .rank = sym->rank };

		add(w, &r, sizeof(r));
		name += (uint32_t)strlen(sym->name) + 1;
	}
	for (i = 0; i < n; i++) {
		const char *text = symtab_at(st, i)->name;

		add(w, text, strlen(text) + 1);
	}
	add_padding(w, name);
}

/* The header's check can be computed last only. */
static void finish(struct writer *w, struct symcache_header *h, const char *key)
{
	flush(w);
	h->check = check_of(h, key, w->sums, w->pages);
	put(w, w->sums, w->pages * sizeof(*w->sums));
	if (!w->error && pwrite(w->fd, h, sizeof(*h), 0) != (ssize_t)sizeof(*h))
		w->error = -EIO;
}

static uint64_t size_of_names(const struct symtab *st)
{
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < symtab_count(st); i++)
		size += strlen(symtab_at(st, i)->name) + 1;
	return size;
}

int symcache_write(int fd, const char *key, const struct symtab *st)
{
	struct symcache_header h = { .magic = SYMCACHE_MAGIC,
				     .version = SYMCACHE_VERSION,
				     .order = SYMCACHE_ORDER,
				     .names_size = size_of_names(st),
				     .count = (uint32_t)symtab_count(st),
				     .key_size = (uint32_t)strlen(key) };
	struct writer *w;
	int r;

	if (h.names_size > UINT32_MAX || symtab_count(st) > UINT32_MAX)
		return -EFBIG;
	w = xcalloc(1, sizeof(*w));
	w->fd = fd;
	add(w, &h, sizeof(h));
	add(w, key, h.key_size);
	add_padding(w, h.key_size);
	add_symbols(w, st);
	finish(w, &h, key);
	r = w->error;
	free(w->sums);
	free(w);
	return r;
}
