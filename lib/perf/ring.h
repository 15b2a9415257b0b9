/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A CPU buffer: the ring into which the kernel writes perf records and from which we read them. A
 * record that wraps at the ring's end is copied to a scratch buffer, so that the reader sees it
 * whole. The ring owns its mapping if ring_map() made it, else it borrows the caller's memory.
 *
 *	ring_refresh(&ring);
 *	while (ring_peek(&ring, &record) > 0) {
 *		...
 *		ring_take(&ring);
 *	}
 *	ring_release(&ring);
 */
#pragma once

#include "base/span.h"

#include <linux/perf_event.h>

struct ring {
	struct perf_event_mmap_page *page; /* control page, shared with the kernel */
	const uint8_t *data;		   /* after the page */
	size_t size;			   /* of data in bytes, a power of two */
	uint64_t head, tail;		   /* bytes ever written (when last looked), ever read */
	uint64_t released;		   /* the tail that the kernel knows */
	size_t record_size;		   /* of the record last peeked at */
	uint8_t *scratch;		   /* a record that wrapped; NULL until the first */
	size_t mapped;			   /* bytes to unmap, 0: borrowed memory */
};

/* Makes a ring of the caller's memory, read from @page->data_tail on. */
void ring_init(struct ring *r, struct perf_event_mmap_page *page, const void *data, size_t size);
/* Maps the ring of the event @fd with @size bytes of data (a power of two, at least a page);
 * returns 0 or -errno. */
int ring_map(struct ring *r, int fd, size_t size);
/* Unmaps the ring and zeroes it; an all-zero ring is fine. */
void ring_done(struct ring *r);

/* Reads how far the kernel has written. */
void ring_refresh(struct ring *r);
/* Stores the next record with its header, borrowed until ring_take(), in *@ret and returns 1; 0 if
 * there is none; -EBADMSG if the bytes are not a record: then the ring's contents are skipped. */
int ring_peek(struct ring *r, struct span *ret);
/* Moves past the record that ring_peek() returned. */
void ring_take(struct ring *r);
/* Returns the space of the records taken to the kernel. */
void ring_release(struct ring *r);
/* Bytes written and not yet taken, as of the last ring_refresh(). */
size_t ring_used(const struct ring *r);
