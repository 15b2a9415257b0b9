/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A CPU buffer: the ring that the kernel writes records into and we read them out of. A record that
 * runs over the ring's end is put together in a scratch buffer, so that a reader sees whole ones.
 * The ring owns its mapping if ring_map() made it, else borrows the memory it was given.
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
	const uint8_t *data;		   /* behind it */
	size_t size;			   /* of data in bytes, a power of two */
	uint64_t head, tail;		   /* bytes ever written (when last looked), ever read */
	uint64_t released;		   /* the tail that the kernel was told */
	size_t record_size;		   /* of the record last peeked at */
	uint8_t *scratch;		   /* a record that wrapped; NULL until there was one */
	size_t mapped;			   /* bytes to unmap, 0: borrowed memory */
};

/* A ring over memory of the caller's, read from @page->data_tail on. */
void ring_init(struct ring *r, struct perf_event_mmap_page *page, const void *data, size_t size);
/* Maps the ring of the event @fd with @size bytes of data (a power of two, at least a page);
 * 0 or -errno. */
int ring_map(struct ring *r, int fd, size_t size);
/* Unmaps; an all-zero ring is fine, and is what stays. */
void ring_done(struct ring *r);

/* Looks how far the kernel has written. */
void ring_refresh(struct ring *r);
/* The next record with its header, borrowed until ring_take(): 1; 0 if there is none; -EBADMSG if
 * what stands there cannot be a record, then all that is in the ring has been passed over. */
int ring_peek(struct ring *r, struct span *ret);
/* Moves past the record that ring_peek() returned. */
void ring_take(struct ring *r);
/* Gives the kernel the room of all that was taken. */
void ring_release(struct ring *r);
/* Bytes written and not yet taken, as of the last ring_refresh(). */
size_t ring_used(const struct ring *r);
