/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory for the rows of unwind tables: chunks, which the sampling program finds by their
 * numbers. Some stand ready before they are needed, for the kernel takes its time to hand one over.
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

/* At most @limit chunks of rows, up to SAMPLE_CHUNKS_MAX / 2, for the program of @sampler, which is
 * borrowed; some are made at once. Caller frees. */
struct table_chunks *table_chunks_new(struct sampler *sampler, uint32_t limit);
/* The program may not run any more, but must still be there; NULL is fine. */
void table_chunks_free(struct table_chunks *c);

/* Copies the @count rows of a page, at most SAMPLE_CHUNK_ROWS, into a chunk and says in @ret where
 * they are; 0 or -errno: -ENOSPC if there is no room. */
int table_chunks_put(struct table_chunks *c, const struct unwind_row *rows, size_t count,
		     struct sample_page *ret);
/* How many there may be. */
uint32_t table_chunks_limit(const struct table_chunks *c);
/* Whether all pages of a table have room, which begin where @pages says in its rows; an end
 * follows. */
bool table_chunks_fit(const struct table_chunks *c, const uint32_t *pages, size_t count);
/* Whether they would have it where half of all chunks are free. */
bool table_chunks_fit_half(const struct table_chunks *c, const uint32_t *pages, size_t count);

/* Begins anew: what was put is old, kept until it is dropped or the next time. */
void table_chunks_renew(struct table_chunks *c);
/* The rows of a page that is old, borrowed until they are dropped; NULL if they cannot be mapped.
 */
const struct unwind_row *table_chunks_old(struct table_chunks *c, const struct sample_page *page);
/* Old rows are not read any more, by the program neither: table_chunks_prepare() drops them. */
void table_chunks_leave_old(struct table_chunks *c);

/* Does a piece of what takes long and can wait; whether there is more of it. */
bool table_chunks_prepare(struct table_chunks *c);

/* Bytes that they take now. */
uint64_t table_chunks_bytes(const struct table_chunks *c);
