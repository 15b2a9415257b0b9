/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf/ring.h"

#include "base/mem.h"

#include <sys/mman.h>

enum { RECORD_MAX = 1 << 16 }; /* perf_event_header.size has 16 bits */

void ring_init(struct ring *r, struct perf_event_mmap_page *page, const void *data, size_t size)
{
	*r = (struct ring){ .page = page, .data = data, .size = size };
	r->tail = r->head = r->released = page->data_tail;
}

int ring_map(struct ring *r, int fd, size_t size)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page_size + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	ring_init(r, at, (const uint8_t *)at + page_size, size);
	r->mapped = page_size + size;
	return 0;
}

void ring_done(struct ring *r)
{
	if (r->mapped)
		(void)munmap(r->page, r->mapped);
	free(r->scratch);
	*r = (struct ring){ 0 };
}

void ring_refresh(struct ring *r)
{
	/* Pairs with the kernel's barrier before it moves data_head: the records up to there are
	 * whole (linux/perf_event.h, struct perf_event_mmap_page). */
	if (r->page)
		r->head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

size_t ring_used(const struct ring *r)
{
	return (size_t)(r->head - r->tail);
}

/* The next @size bytes in one piece; the ring holds that many. */
static const uint8_t *contiguous(struct ring *r, size_t size)
{
	size_t at = r->tail & (r->size - 1), before_end = r->size - at;

	if (_likely_(size <= before_end))
		return r->data + at;
	if (!r->scratch)
		r->scratch = xmalloc(RECORD_MAX);
	memcpy(r->scratch, r->data + at, before_end);
	memcpy(r->scratch + before_end, r->data, size - before_end);
	return r->scratch;
}

int ring_peek(struct ring *r, struct span *ret)
{
	size_t used = ring_used(r);
	struct perf_event_header header;

	if (!used)
		return 0;
	header.size = 0;
	if (used >= sizeof(header) && used <= r->size)
		memcpy(&header, contiguous(r, sizeof(header)), sizeof(header));
	if (_unlikely_(header.size < sizeof(header) || header.size > used)) {
		r->tail = r->head;
		return -EBADMSG;
	}
	r->record_size = header.size;
	*ret = span_of(contiguous(r, header.size), header.size);
	return 1;
}

void ring_take(struct ring *r)
{
	r->tail += r->record_size;
	r->record_size = 0;
}

void ring_release(struct ring *r)
{
	if (r->released == r->tail)
		return;
	/* Our reads of the data come before the kernel sees the room. */
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
	r->released = r->tail;
}
