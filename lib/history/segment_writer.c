/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/segment_writer.h"

#include "base/mem.h"
#include "base/radix.h"
#include "history/internal/segment_columns.h"
#include "history/internal/segment_format.h"
#include "history/segment_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* A node of the tree that is written. */
struct written {
	uint32_t number; /* in the tree */
	uint32_t line;	 /* as written */
	uint32_t place;
};

enum { FRAMES = 7 };

struct segment_writer {
	const uint32_t *to;
	struct segment_header header;
	struct strbuf body, raw; /* what follows the header; a block before compression */
	struct segment_entry *index;
	size_t slices, room;
	uint32_t *numbers; /* as written, by the tree's; 0: not written */
	uint64_t *totals;  /* by number as written, from 1 on */
	uint64_t *sums;	   /* of the slice being added; all zero otherwise */
	uint32_t *touched;
	size_t touched_room;
	uint64_t *forecast; /* of ->totals; NULL: none */
	struct segment_columns columns;
	size_t column_ends[FRAMES]; /* columns, in order, whose counts are compressed together */
	size_t ends[FRAMES];	    /* the same of the bytes of ->raw; the rest follows */
	size_t end_count;
	ZSTD_CCtx *zstd; /* NULL: no memory for it */
	bool is_too_large;
};

static void add(uint64_t *sum, uint64_t count)
{
	if (__builtin_add_overflow(*sum, count, sum))
		*sum = UINT64_MAX;
}

/* Compresses a part of ->raw as a frame; returns its size. */
static size_t put_frame(struct segment_writer *w, size_t from, size_t end, char *to, size_t room)
{
	size_t stored =
		w->zstd ? ZSTD_compress2(w->zstd, to, room, strbuf_text(&w->raw) + from, end - from)
			: 0;

	if (!ZSTD_isError(stored))
		return stored;
	w->is_too_large = true;
	return 0;
}

/* Compresses ->raw as a block: a frame for each of ->ends, which readers take for one, and one for
 * the rest. */
static struct segment_block put_block(struct segment_writer *w)
{
	size_t bound = ZSTD_compressBound(w->raw.length) + FRAMES * ZSTD_compressBound(0);
	_cleanup_free_ char *bytes = xmalloc(bound);
	struct segment_block b = { .offset = sizeof(w->header) + w->body.length };
	size_t stored = 0, from = 0, i;

	for (i = 0; i < w->end_count; from = w->ends[i++])
		stored += put_frame(w, from, w->ends[i], bytes + stored, bound - stored);
	stored += put_frame(w, from, w->raw.length, bytes + stored, bound - stored);
	w->is_too_large |= w->raw.length > SEGMENT_BLOCK_MAX;
	b.size = (uint32_t)w->raw.length;
	b.stored = (uint32_t)stored;
	b.crc = (uint32_t)crc32_z(0, (const uint8_t *)bytes, stored);
	strbuf_add(&w->body, bytes, stored);
	strbuf_clear(&w->raw);
	w->end_count = 0;
	return b;
}

/* --- the tree --- */

/* Which nodes are written: those that counts belong to, and all above them; the caller frees. */
static bool *used_nodes(const struct segment_tree *t, const uint32_t *to, size_t folded)
{
	bool *used = xcalloc(t->count + 1, sizeof(*used));
	size_t i;

	for (i = 1; i <= folded; i++)
		used[to[i]] = true;
	for (i = t->count; i > 0; i--)
		if (used[i])
			used[t->nodes[i].parent] = true;
	return used;
}

/* Numbers the lines of the nodes, in the order of these, and writes them. */
static void put_lines(struct segment_writer *w, const struct segment_tree *t, struct written *list,
		      size_t count)
{
	_cleanup_free_ uint32_t *numbers = xcalloc(t->line_count + 1, sizeof(*numbers));
	size_t i;

	for (i = 0; i < count; i++) {
		uint32_t line = t->nodes[list[i].number].line;

		if (line && !numbers[line]) {
			numbers[line] = ++w->header.lines;
			strbuf_adds(&w->raw, t->lines[line]);
			strbuf_add(&w->raw, "\n", 1);
		}
		list[i].line = numbers[line];
	}
	w->header.blocks[SEGMENT_LINES] = put_block(w);
}

/* Writes the places and notes which one each node has. @order has two entries for each node;
 * afterwards, the first half is sorted by place. */
static void put_places(struct segment_writer *w, const struct segment_tree *t, struct written *list,
		       size_t count, struct radix_entry *order)
{
	struct strbuf keys = STRBUF_INIT;
	uint32_t line = 0;
	uint64_t key = 0;
	size_t i;

	for (i = 0; i < count; i++)
		order[i] = (struct radix_entry){ t->nodes[list[i].number].key, i };
	radix_sort(order, order + count, count);
	for (i = 0; i < count; i++)
		order[i].key = list[order[i].value].line;
	radix_sort(order, order + count, count);
	for (i = 0; i < count; i++) {
		struct written *n = &list[order[i].value];
		uint64_t its = t->nodes[n->number].key;

		if (!i || n->line != line || its != key) {
			w->header.places++;
			strbuf_add_uleb(&w->raw, n->line - line);
			strbuf_add_uleb(&keys, n->line == line ? its - key : its);
		}
		line = n->line;
		key = its;
		n->place = w->header.places - 1;
	}
	strbuf_add(&w->raw, strbuf_text(&keys), keys.length);
	strbuf_done(&keys);
	w->header.blocks[SEGMENT_PLACES] = put_block(w);
}

/* The next node in depth-first order. */
struct walk {
	const struct segment_tree *tree;
	const struct written *list;	 /* of all nodes that are written */
	const struct radix_entry *order; /* in ->list, by parent, then place */
	const uint32_t *first;		 /* child in ->order, by number in the tree */
	size_t count;
	uint32_t *pending; /* in ->list, the next one last */
	size_t left, room;
};

static void push_children(struct walk *w, uint32_t parent)
{
	size_t end = w->first[parent], n;

	while (end < w->count && w->order[end].key == parent)
		end++;
	n = end - w->first[parent];
	array_grow(&w->pending, w->left + n, &w->room);
	while (end > w->first[parent])
		w->pending[w->left++] = (uint32_t)w->order[--end].value;
}

/* Numbers the nodes depth first and writes them. */
static void put_walk(struct segment_writer *w, struct walk *walk)
{
	const struct segment_tree *t = walk->tree;
	_cleanup_free_ uint32_t *depths = xcalloc(t->count + 1, sizeof(*depths));
	struct strbuf places = STRBUF_INIT;
	uint32_t depth = 0, place = 0;

	push_children(walk, 0);
	while (walk->left) {
		const struct written *n = &walk->list[walk->pending[--walk->left]];
		int64_t distance = (int64_t)n->place - place;

		w->numbers[n->number] = ++w->header.nodes;
		depths[n->number] = depths[t->nodes[n->number].parent] + 1;
		strbuf_add_uleb(&w->raw, depth + 1 - depths[n->number]);
		strbuf_add_uleb(&places, (uint64_t)distance << 1 ^ (uint64_t)(distance >> 63));
		depth = depths[n->number];
		place = n->place;
		push_children(walk, n->number);
	}
	strbuf_add(&w->raw, strbuf_text(&places), places.length);
	strbuf_done(&places);
	w->header.blocks[SEGMENT_NODES] = put_block(w);
}

/* Writes the nodes; @order is sorted by place. */
static void put_nodes(struct segment_writer *w, const struct segment_tree *t,
		      const struct written *list, size_t count, struct radix_entry *order)
{
	_cleanup_free_ uint32_t *first = xcalloc(t->count + 1, sizeof(*first));
	struct walk walk = {
		.tree = t, .list = list, .order = order, .first = first, .count = count
	};
	size_t i;

	for (i = 0; i < count; i++)
		order[i].key = t->nodes[list[order[i].value].number].parent;
	radix_sort(order, order + count, count);
	for (i = 0; i <= t->count; i++)
		first[i] = (uint32_t)count;
	for (i = count; i > 0; i--)
		first[order[i - 1].key] = (uint32_t)i - 1;
	put_walk(w, &walk);
	free(walk.pending);
}

static void put_tree(struct segment_writer *w, const struct segment_tree *t, const bool *used)
{
	_cleanup_free_ struct written *list = NULL;
	_cleanup_free_ struct radix_entry *order = NULL;
	size_t count = 0, n = 0;
	uint32_t i;

	for (i = 1; i <= t->count; i++)
		count += used[i];
	list = xcalloc(count + 1, sizeof(*list));
	for (i = 1; i <= t->count; i++)
		if (used[i])
			list[n++].number = i;
	order = xcalloc(2 * count + 1, sizeof(*order));
	put_lines(w, t, list, count);
	put_places(w, t, list, count, order);
	put_nodes(w, t, list, count, order);
}

/* Divides the columns by how large counts are on average: a frame of zstd has one code for all of
 * its bytes, and small counts need another one than large ones. */
static void divide_columns(struct segment_writer *w, size_t slices)
{
	static const unsigned int halves[FRAMES] = { 40, 16, 8, 4, 2, 1, 0 };
	size_t frame = 0, i;

	for (i = 0; i < w->columns.count; i++) {
		unsigned int rank = segment_columns_rank(w->forecast[w->columns.order[i]]);

		while (frame < FRAMES - 1 &&
		       rank < segment_columns_rank(halves[frame] * slices / 2))
			w->column_ends[frame++] = i;
	}
	while (frame < FRAMES)
		w->column_ends[frame++] = w->columns.count;
}

/* Decides which nodes have columns. */
static void plan_columns(struct segment_writer *w, size_t folded,
			 const struct segment_forecast *forecast)
{
	size_t i;

	w->header.columns = segment_columns_least(forecast->slices);
	w->forecast = xcalloc((size_t)w->header.nodes + 1, sizeof(*w->forecast));
	for (i = 1; i <= folded; i++)
		add(&w->forecast[w->numbers[w->to[i]]], forecast->counts[i]);
	segment_columns_init(&w->columns, w->forecast, w->header.nodes, w->header.columns);
	divide_columns(w, forecast->slices);
}

/* Makes the context that all blocks are compressed with; NULL: no memory for it. */
static ZSTD_CCtx *new_zstd(bool is_small)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();

	if (zstd)
		(void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel,
					     is_small ? SEGMENT_ZSTD_SMALL : SEGMENT_ZSTD_LEVEL);
	if (zstd && is_small) {
		(void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_chainLog, SEGMENT_ZSTD_TABLES);
		(void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_hashLog, SEGMENT_ZSTD_TABLES);
	}
	return zstd;
}

struct segment_writer *segment_writer_new(const struct segment_tree *tree, const uint32_t *to,
					  size_t folded, const struct segment_forecast *forecast)
{
	struct segment_writer *w = xcalloc(1, sizeof(*w));
	_cleanup_free_ bool *used = used_nodes(tree, to, folded);

	w->to = to;
	w->numbers = xcalloc(tree->count + 1, sizeof(*w->numbers));
	w->zstd = new_zstd(forecast);
	put_tree(w, tree, used);
	w->totals = xcalloc((size_t)w->header.nodes + 1, sizeof(*w->totals));
	w->sums = xcalloc((size_t)w->header.nodes + 1, sizeof(*w->sums));
	if (forecast)
		plan_columns(w, folded, forecast);
	return w;
}

void segment_writer_free(struct segment_writer *w)
{
	if (!w)
		return;
	(void)ZSTD_freeCCtx(w->zstd);
	strbuf_done(&w->body);
	strbuf_done(&w->raw);
	segment_columns_done(&w->columns);
	free(w->forecast);
	free(w->index);
	free(w->numbers);
	free(w->totals);
	free(w->sums);
	free(w->touched);
	free(w);
}

/* --- slices --- */

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Adds up the counts by node; how many nodes have any. */
static size_t sum_up(struct segment_writer *w, const struct segment_count *counts, size_t count)
{
	size_t touched = 0, i;

	for (i = 0; i < count; i++) {
		uint32_t number = w->numbers[w->to[counts[i].node]];

		if (!counts[i].count || !number)
			continue;
		array_grow(&w->touched, touched + 1, &w->touched_room);
		if (!w->sums[number])
			w->touched[touched++] = number;
		add(&w->sums[number], counts[i].count);
	}
	if (touched)
		qsort(w->touched, touched, sizeof(*w->touched), compare_numbers);
	return touched;
}

static bool has_column(const struct segment_writer *w, uint32_t number)
{
	return w->columns.count && segment_columns_rank(w->forecast[number]) >= w->header.columns;
}

/* Writes the sums of the slice that have columns. */
static void put_columns(struct segment_writer *w)
{
	enum { LEAST = 512 }; /* bytes: fewer are not worth a frame */
	size_t frame, i = 0, from = 0;

	for (frame = 0; frame < FRAMES; frame++) {
		for (; i < w->column_ends[frame]; i++)
			strbuf_add_uleb(&w->raw, w->sums[w->columns.order[i]]);
		if (w->raw.length - from < LEAST)
			continue;
		from = w->raw.length;
		w->ends[w->end_count++] = from;
	}
}

/* Writes the sums of the slice, which @touched nodes have, and adds them to the totals. */
static void put_counts(struct segment_writer *w, size_t touched)
{
	uint32_t last = 0;
	size_t others = 0, i;

	put_columns(w);
	for (i = 0; i < touched; i++) {
		uint32_t number = w->touched[i];

		add(&w->totals[number], w->sums[number]);
		if (has_column(w, number)) {
			w->sums[number] = 0;
			continue;
		}
		strbuf_add_uleb(&w->raw, number - last);
		last = w->touched[others++] = number;
	}
	for (i = 0; i < others; i++) {
		strbuf_add_uleb(&w->raw, w->sums[w->touched[i]]);
		w->sums[w->touched[i]] = 0;
	}
}

void segment_writer_slice(struct segment_writer *w, const struct segment_slice *slice,
			  const struct segment_count *counts, size_t count)
{
	const struct slice *s = &slice->slice;
	size_t touched = sum_up(w, counts, count);

	put_counts(w, touched);
	array_grow(&w->index, w->slices + 1, &w->room);
	w->index[w->slices++] = (struct segment_entry){ .begin_ms = s->span.begin_ms,
							.end_ms = s->span.end_ms,
							.samples = s->samples,
							.taken = s->taken,
							.lost = s->lost,
							.cpu_ms = s->cpu_ms,
							.covered_ms = slice->covered_ms,
							.generation = slice->generation,
							.counts = (uint32_t)touched,
							.block = put_block(w) };
}

/* Fills in what the header says about the slices. */
static void sum_slices(struct segment_writer *w)
{
	struct segment_header *h = &w->header;
	size_t i;

	h->slices = (uint32_t)w->slices;
	for (i = 0; i < w->slices; i++) {
		const struct segment_entry *e = &w->index[i];

		h->begin_ms = i ? MIN(h->begin_ms, e->begin_ms) : e->begin_ms;
		h->end_ms = i ? MAX(h->end_ms, e->end_ms) : e->end_ms;
		add(&h->samples, e->samples);
	}
	for (i = 1; i <= h->nodes; i++)
		add(&h->counts, w->totals[i]);
}

int segment_writer_finish(struct segment_writer *w, const struct segment_about *about,
			  struct strbuf *out)
{
	struct segment_header *h = &w->header;
	size_t i;

	if (!w->zstd)
		return -ENOMEM;
	if (w->forecast &&
	    memcmp(w->forecast + 1, w->totals + 1, h->nodes * sizeof(*w->totals)) != 0)
		return -EINVAL;
	h->magic = SEGMENT_MAGIC;
	h->level = about->level;
	h->first = about->first;
	h->last = about->last;
	sum_slices(w);
	for (i = 1; i <= h->nodes; i++)
		strbuf_add_uleb(&w->raw, w->totals[i]);
	h->blocks[SEGMENT_TOTALS] = put_block(w);
	strbuf_add(&w->raw, w->index, w->slices * sizeof(*w->index));
	h->blocks[SEGMENT_INDEX] = put_block(w);
	h->crc = (uint32_t)crc32_z(0, (const uint8_t *)&h->level,
				   sizeof(*h) - offsetof(struct segment_header, level));
	strbuf_add(out, h, sizeof(*h));
	strbuf_add(out, w->body.text, w->body.length);
	return w->is_too_large || h->nodes > SEGMENT_NODES_MAX ? -EFBIG : 0;
}
