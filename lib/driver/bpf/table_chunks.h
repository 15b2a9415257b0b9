/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for the rows of unwind tables, in chunks that the BPF sampling program finds by number.
 * Some chunks are allocated in advance, because adding one to the program's map takes the kernel
 * many milliseconds. The caller owns the structure and frees it.
 *
 *	struct table_chunks *chunks = table_chunks_new(sampler, limit);
 *	table_chunks_put(chunks, rows, count, &page);
 *	while (table_chunks_prepare(chunks))	when there is nothing better to do
 *		;
 *	table_chunks_free(chunks);
 */
#pragma once

#include "driver/bpf/sampler.h"

struct table_chunks;

/* Creates a store of at most @limit chunks, up to SAMPLE_CHUNKS_MAX / 2, for the program of
 * @sampler, which is borrowed. Some are allocated at once. Caller frees. */
struct table_chunks *table_chunks_new(struct sampler *sampler, uint32_t limit);
/* Frees the store; accepts NULL. The program must no longer run but still be loaded. */
void table_chunks_free(struct table_chunks *c);

/* Copies the @count rows of a page, at most SAMPLE_CHUNK_ROWS, into a chunk, with their location in
 * @ret. Returns 0 or -errno: -ENOSPC if there is no room. */
int table_chunks_put(struct table_chunks *c, const struct unwind_row *rows, size_t count,
		     struct sample_page *ret);
/* The maximum number of chunks. */
uint32_t table_chunks_limit(const struct table_chunks *c);
/* Whether all pages of a table fit. @pages has @count start rows, followed by the end row. */
bool table_chunks_fit(const struct table_chunks *c, const uint32_t *pages, size_t count);
/* Whether they would fit if half of all chunks were free. */
bool table_chunks_fit_half(const struct table_chunks *c, const uint32_t *pages, size_t count);

/* Starts over with empty chunks. The rows put so far are kept as old rows until they are dropped,
 * or until the next call. */
void table_chunks_renew(struct table_chunks *c);
/* The rows of an old page, which the program no longer uses; borrowed until they are dropped. NULL
 * if they cannot be mapped. */
struct unwind_row *table_chunks_old(struct table_chunks *c, const struct sample_page *page);
/* Declares old rows unused, also by the program; table_chunks_prepare() then drops them. */
void table_chunks_leave_old(struct table_chunks *c);

/* Does one step of slow work that can wait. Returns whether there is more. */
bool table_chunks_prepare(struct table_chunks *c);

/* Bytes that the chunks take now. */
uint64_t table_chunks_bytes(const struct table_chunks *c);
