/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/bpf/table_chunks.h"

#include "base/mem.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum {
	/* Chunks are numbered from 0 and from HALF by turns. */
	HALF = SAMPLE_CHUNKS_MAX / 2,
	/* Chunks prepared in advance, enough for the tables of large programs. Whenever a map is
	 * added to another one or removed, the kernel waits until no CPU runs a program that uses
	 * it (maybe_wait_bpf_programs()), some 15 ms. */
	READY = 8,
};

/* Old chunks, mapped on demand. */
struct old_chunks {
	uint32_t base, count;
	int *fds;
	struct sample_chunk **maps;
};

struct table_chunks {
	int outer; /* the map that contains them */
	uint32_t limit;
	uint32_t base;	     /* number of the first chunk: 0 or HALF */
	uint32_t made, used; /* number of chunks; those in use come first */
	int *fds;
	struct sample_chunk *last; /* the last one in use, or NULL */
	size_t rows;		   /* in it */
	struct old_chunks old;
};

/* Allocates @count more chunks, or as many as are allowed, with one wait in the kernel (since Linux
 * 6.8). Returns 0, or -errno if none was allocated. */
static int make(struct table_chunks *c, uint32_t count)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	LIBBPF_OPTS(bpf_map_batch_opts, batch);
	uint32_t numbers[HALF], i, done;
	int *fds = c->fds + c->made, r = -ENOSPC;

	count = MIN(count, c->limit - c->made);
	for (i = 0; i < count; i++) {
		numbers[i] = c->base + c->made + i;
		fds[i] = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_rows", sizeof(uint32_t),
					sizeof(struct sample_chunk), 1, &opts);
		if (fds[i] < 0)
			break;
	}
	if (i == 0)
		return count ? -errno : r;
	count = done = i;
	r = bpf_map_update_batch(c->outer, numbers, fds, &done, &batch) < 0 ? -errno : 0;
	/* A failing entry sets the number of entries done; otherwise it is unchanged. */
	if (r < 0 && done == count)
		done = 0;
	for (i = done; i < count; i++)
		(void)close(fds[i]);
	c->made += done;
	return done ? 0 : r;
}

struct table_chunks *table_chunks_new(struct sampler *sampler, uint32_t limit)
{
	struct table_chunks *c = xcalloc(1, sizeof(*c));

	c->outer = sampler_maps(sampler)->chunks;
	c->limit = MIN(limit, (uint32_t)HALF);
	c->fds = xcalloc(HALF, sizeof(*c->fds));
	(void)make(c, READY); /* if this fails, they are allocated on demand */
	return c;
}

static void unmap_last(struct table_chunks *c)
{
	/* The kernel keeps the memory; unmapped, it does not count as ours. */
	if (c->last)
		(void)munmap(c->last, sizeof(*c->last));
	c->last = NULL;
	c->rows = 0;
}

/* Drops the last old chunk, also from the program's map. */
static void drop_one(struct table_chunks *c)
{
	struct old_chunks *o = &c->old;
	uint32_t number = o->base + --o->count;

	(void)bpf_map_delete_elem(c->outer, &number);
	(void)close(o->fds[o->count]);
}

void table_chunks_leave_old(struct table_chunks *c)
{
	struct old_chunks *o = &c->old;
	uint32_t i;

	for (i = 0; o->maps && i < o->count; i++)
		if (o->maps[i])
			(void)munmap(o->maps[i], sizeof(**o->maps));
	free(STEAL(o->maps));
}

void table_chunks_free(struct table_chunks *c)
{
	uint32_t i;

	if (!c)
		return;
	unmap_last(c);
	table_chunks_leave_old(c);
	/* They are freed with the map that contains them, without a wait for each. */
	for (i = 0; i < c->old.count; i++)
		(void)close(c->old.fds[i]);
	for (i = 0; i < c->made; i++)
		(void)close(c->fds[i]);
	free(c->old.fds);
	free(c->fds);
	free(c);
}

/* Starts another chunk; 0 or -errno. */
static int next(struct table_chunks *c)
{
	int r = c->used < c->made ? 0 : make(c, 1);

	if (r < 0)
		return r;
	unmap_last(c);
	c->last = sampler_map_memory(c->fds[c->used], sizeof(*c->last));
	if (!c->last)
		return -errno;
	c->used++;
	return 0;
}

int table_chunks_put(struct table_chunks *c, const struct unwind_row *rows, size_t count,
		     struct sample_page *ret)
{
	int r = 0;

	*ret = (struct sample_page){ 0 };
	if (!count)
		return 0;
	if (!c->last || c->rows + count > SAMPLE_CHUNK_ROWS)
		r = next(c);
	if (r < 0)
		return r;
	memcpy(&c->last->rows[c->rows], rows, count * sizeof(*rows));
	*ret = (struct sample_page){ .chunk = (uint16_t)(c->base + c->used - 1),
				     .start = (uint16_t)c->rows,
				     .rows = (uint32_t)count };
	c->rows += count;
	return 0;
}

/* The number of additional chunks for a table if the last chunk in use has @rows rows. */
static size_t chunks_for(const uint32_t *pages, size_t page_count, size_t rows)
{
	size_t i, more, count = 0;

	for (i = 0; i < page_count; i++) {
		more = pages[i + 1] - pages[i];
		if (rows + more > SAMPLE_CHUNK_ROWS) {
			count++;
			rows = 0;
		}
		rows += more;
	}
	return count;
}

uint32_t table_chunks_limit(const struct table_chunks *c)
{
	return c->limit;
}

bool table_chunks_fit(const struct table_chunks *c, const uint32_t *pages, size_t count)
{
	size_t rows = c->last ? c->rows : SAMPLE_CHUNK_ROWS;

	return c->used + chunks_for(pages, count, rows) <= c->limit;
}

bool table_chunks_fit_half(const struct table_chunks *c, const uint32_t *pages, size_t count)
{
	return chunks_for(pages, count, SAMPLE_CHUNK_ROWS) <= c->limit / 2;
}

void table_chunks_renew(struct table_chunks *c)
{
	uint32_t wanted = MIN(c->used + READY, c->limit / 2);

	unmap_last(c);
	table_chunks_leave_old(c);
	while (c->old.count)
		drop_one(c);
	free(c->old.fds);
	c->old = (struct old_chunks){ c->base, c->made, c->fds,
				      xcalloc(c->made + 1, sizeof(*c->old.maps)) };
	c->fds = xcalloc(HALF, sizeof(*c->fds));
	c->base = c->base ? 0 : HALF;
	c->made = c->used = 0;
	(void)make(c, wanted);
}

struct unwind_row *table_chunks_old(struct table_chunks *c, const struct sample_page *page)
{
	struct old_chunks *o = &c->old;
	uint32_t i = page->chunk - o->base;

	if (!o->maps[i])
		o->maps[i] = sampler_map_memory(o->fds[i], sizeof(**o->maps));
	return o->maps[i] ? o->maps[i]->rows + page->start : NULL;
}

bool table_chunks_prepare(struct table_chunks *c)
{
	uint32_t wanted = MIN(c->used + READY, c->limit);

	if (c->old.count && !c->old.maps)
		drop_one(c);
	else if (c->made < wanted && make(c, 1) < 0)
		return false;
	return c->made < wanted || (c->old.count && !c->old.maps);
}

uint64_t table_chunks_bytes(const struct table_chunks *c)
{
	return (uint64_t)(c->made + c->old.count) * sizeof(struct sample_chunk);
}
