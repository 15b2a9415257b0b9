/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/hot_code.h"

#include "base/mem.h"
#include "parser/parser_places.h"

#include <stdlib.h>
#include <string.h>

/* How many images, and places in each, are taken at once. */
enum { IMAGES_MAX = 8, PLACES_MAX = 32 };

struct image {
	uint64_t cookie, count;
	size_t first, places; /* in the sorted entries */
};

void hot_code_begin(struct hot_code *h)
{
	h->slots = xcalloc(HOT_CODE_SLOTS, sizeof(*h->slots));
}

static int compare_entries(const void *pa, const void *pb)
{
	const struct hot_code_entry *a = pa, *b = pb;

	if (a->cookie != b->cookie)
		return (a->cookie > b->cookie) - (a->cookie < b->cookie);
	return (a->count < b->count) - (a->count > b->count);
}

static int compare_images(const void *pa, const void *pb)
{
	const struct image *a = pa, *b = pb;

	return (a->count < b->count) - (a->count > b->count);
}

/* Moves the used entries to the front, and sorts them. */
static void sort_entries(struct hot_code *h)
{
	size_t i, n = 0;

	for (i = 0; i < HOT_CODE_SLOTS; i++)
		if (h->slots[i].count)
			h->slots[n++] = h->slots[i];
	qsort(h->slots, n, sizeof(*h->slots), compare_entries);
}

/* The images of the sorted entries, by falling counts; the caller frees. */
static struct image *list_images(const struct hot_code *h, size_t *ret_count)
{
	struct image *images = xcalloc(h->used + 1, sizeof(*images));
	size_t i, n = 0;

	for (i = 0; i < h->used; i++) {
		if (!n || images[n - 1].cookie != h->slots[i].cookie)
			images[n++] = (struct image){ .cookie = h->slots[i].cookie, .first = i };
		images[n - 1].count += h->slots[i].count;
		images[n - 1].places++;
	}
	qsort(images, n, sizeof(*images), compare_images);
	*ret_count = n;
	return images;
}

void hot_code_take(struct hot_code *h,
		   void (*take)(void *data, uint64_t cookie, const struct parser_places *hottest),
		   void *data)
{
	_cleanup_free_ struct image *images = NULL;
	size_t i, j, count;

	if (!h->used)
		return;
	sort_entries(h);
	images = list_images(h, &count);
	for (i = 0; i < MIN(count, (size_t)IMAGES_MAX); i++) {
		struct parser_places hottest = { 0 };

		for (j = 0; j < MIN(images[i].places, (size_t)PLACES_MAX); j++)
			hottest.offsets[hottest.count++] = h->slots[images[i].first + j].offset;
		take(data, images[i].cookie, &hottest);
	}
	memset(h->slots, 0, HOT_CODE_SLOTS * sizeof(*h->slots));
	h->used = 0;
}

void hot_code_done(struct hot_code *h)
{
	free(h->slots);
	*h = (struct hot_code){ 0 };
}
