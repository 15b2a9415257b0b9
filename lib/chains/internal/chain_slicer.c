/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/internal/chain_slicer.h"

#include "base/mem.h"
#include "chains/chain_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MIN = 1 << 6 };

char *chain_slices_path(const char *dir, uint32_t pair)
{
	return xasprintf("%s/slices.%" PRIu32, dir, pair);
}

void chain_slicer_add(struct chain_slicer *l, uint32_t node, uint32_t count)
{
	size_t had = l->words;

	if (node / 64 >= l->words) {
		l->words = ((size_t)node / 64 + WORDS_MIN) * 2;
		l->bits = xreallocarray(l->bits, l->words, sizeof(*l->bits));
		memset(l->bits + had, 0, (l->words - had) * sizeof(*l->bits));
	}
	l->bits[node / 64] |= UINT64_C(1) << node % 64;
	array_grow(&l->touched, l->count + 1, &l->room);
	l->touched[l->count++] = (struct chain_touched){ node, count };
}

static int compare(const void *pa, const void *pb)
{
	const struct chain_touched *a = pa, *b = pb;

	return (a->number > b->number) - (a->number < b->number);
}

static uint32_t counted(const struct chain_table *nodes, const struct chain_touched *t)
{
	const struct chain_node *node = chain_table_at(nodes, t->number);

	return node->count - t->then;
}

/* Adds the numbers of the nodes, as distances; a 0; and their counts. All are then forgotten. */
static void encode(struct chain_slicer *l, const struct chain_table *nodes, struct strbuf *out)
{
	uint32_t last = 0;
	size_t i;

	if (l->count)
		qsort(l->touched, l->count, sizeof(*l->touched), compare);
	for (i = 0; i < l->count; i++) {
		strbuf_add_uleb(out, l->touched[i].number - last);
		last = l->touched[i].number;
		l->bits[last / 64] = 0;
	}
	strbuf_add_uleb(out, 0);
	for (i = 0; i < l->count; i++)
		strbuf_add_uleb(out, counted(nodes, &l->touched[i]));
	l->count = 0;
}

void chain_slicer_leave(struct chain_slicer *l, const struct chain_table *nodes, uint32_t pair)
{
	struct strbuf content = STRBUF_INIT;
	struct chain_left *left;

	if (!l->count) {
		slice_file_close(l->file);
		l->file = NULL;
		return;
	}
	encode(l, nodes, &content);
	array_grow(&l->left, l->left_count + 1, &l->left_room);
	left = &l->left[l->left_count++];
	left->pair = pair;
	left->file = STEAL(l->file);
	left->size = content.length;
	left->content = strbuf_take(&content);
}

static void left_done(struct chain_left *left)
{
	slice_file_close(left->file);
	free(left->content);
}

static int write_left(struct chain_left *left, const char *dir, const struct slice *slice,
		      struct error *err)
{
	_cleanup_free_ char *path = chain_slices_path(dir, left->pair);
	/* All of a file is read when it is opened. */
	int r = left->file ? 0 : slice_file_open(path, &left->file, err);

	return r < 0 ? r : slice_file_add(left->file, slice, left->content, left->size, err);
}

static int write_current(struct chain_slicer *l, const struct chain_table *nodes,
			 const struct chain_slicer_place *place, const struct slice *slice,
			 struct error *err)
{
	_cleanup_free_ char *path = chain_slices_path(place->dir, place->pair);
	_cleanup_(strbuf_done) struct strbuf content = STRBUF_INIT;
	int r = l->file ? 0 : slice_file_open(path, &l->file, err);

	encode(l, nodes, &content);
	return r < 0 ? r : slice_file_add(l->file, slice, content.text, content.length, err);
}

int chain_slicer_end(struct chain_slicer *l, const struct chain_table *nodes,
		     const struct chain_slicer_place *place, const struct slice *slice,
		     struct error *err)
{
	int r = 0, status;
	size_t i;

	for (i = 0; i < l->left_count; i++) {
		status = write_left(&l->left[i], place->dir, slice, err);
		r = r < 0 ? r : status;
		left_done(&l->left[i]);
	}
	l->left_count = 0;
	status = l->count ? write_current(l, nodes, place, slice, err) : 0;
	return r < 0 ? r : status;
}

void chain_slicer_done(struct chain_slicer *l)
{
	size_t i;

	for (i = 0; i < l->left_count; i++)
		left_done(&l->left[i]);
	slice_file_close(l->file);
	free(l->left);
	free(l->bits);
	free(l->touched);
	*l = CHAIN_SLICER_INIT;
}

size_t chain_slicer_memory(const struct chain_slicer *l)
{
	size_t bytes = l->words * sizeof(*l->bits) + l->room * sizeof(*l->touched), i;

	for (i = 0; i < l->left_count; i++)
		bytes += l->left[i].size;
	return bytes;
}
