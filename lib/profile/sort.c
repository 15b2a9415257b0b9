/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/sort.h"

#include "base/mem.h"
#include "base/parse.h"
#include "profile/container.h"
#include "profile/gather.h"
#include "profile/report.h"

#include <errno.h>
#include <string.h>

/* What comparators need beside the rows. */
struct sorting {
	const struct sort *sort;
	uint32_t *rank; /* of each image's name among all */
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_sample(const struct sorting *s, const struct row *a, const struct row *b)
{
	(void)s;
	return compare_u64(b->counts[0], a->counts[0]);
}

static int by_image(const struct sorting *s, const struct row *a, const struct row *b)
{
	return compare_u64(s->rank[a->image], s->rank[b->image]);
}

static int by_app_name(const struct sorting *s, const struct row *a, const struct row *b)
{
	if (a->app == GATHER_NONE || b->app == GATHER_NONE)
		return 0;
	return compare_u64(s->rank[a->app], s->rank[b->app]);
}

static int by_symbol(const struct sorting *s, const struct row *a, const struct row *b)
{
	(void)s;
	return a->text == b->text ? 0 : strcmp(a->text, b->text);
}

static int by_vma(const struct sorting *s, const struct row *a, const struct row *b)
{
	(void)s;
	return compare_u64(a->address, b->address);
}

/* By file and line; what has no place comes last. */
static int by_debug(const struct sorting *s, const struct row *a, const struct row *b)
{
	int r;

	(void)s;
	if (!a->place.file || !b->place.file)
		return !a->place.file - !b->place.file;
	r = a->place.file == b->place.file ? 0 : strcmp(a->place.file, b->place.file);
	return r ? r : compare_u64(a->place.line, b->place.line);
}

static const struct {
	const char *name;
	int (*compare)(const struct sorting *s, const struct row *a, const struct row *b);
} keys[] = {
	[SORT_SAMPLE] = { "sample", by_sample },
	[SORT_IMAGE] = { "image", by_image },
	[SORT_APP_NAME] = { "app-name", by_app_name },
	[SORT_SYMBOL] = { "symbol", by_symbol },
	[SORT_VMA] = { "vma", by_vma },
	[SORT_DEBUG] = { "debug", by_debug },
};
static_assert(ARRAY_SIZE(keys) == SORT_KEY_COUNT_, "a row for each key");

struct sort_parse {
	struct sort *sort;
	size_t count;
	struct error *err;
};

static void add_key(struct sort_parse *p, enum sort_key key)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		if (p->sort->keys[i] == key)
			return;
	p->sort->keys[p->count++] = key;
}

static int parse_key(const char *part, void *data)
{
	struct sort_parse *p = data;
	size_t i;

	for (i = 0; i < SORT_KEY_COUNT_; i++) {
		if (!strcmp(part, keys[i].name)) {
			add_key(p, (enum sort_key)i);
			return 0;
		}
	}
	return error_set(p->err, -EINVAL,
			 "--sort: '%s' is not one of sample, image, app-name, symbol, vma, debug",
			 part);
}

int sort_parse(const char *text, struct sort *ret, struct error *err)
{
	struct sort sort = { 0 };
	struct sort_parse p = { .sort = &sort, .err = err };
	size_t i;
	int r = text ? parse_list(text, ',', parse_key, &p) : 0;

	if (r < 0)
		return r;
	for (i = 0; i < SORT_KEY_COUNT_; i++)
		add_key(&p, (enum sort_key)i);
	*ret = sort;
	return 0;
}

static int compare_rows(const void *pa, const void *pb, void *data)
{
	const struct sorting *s = data;
	const struct row *a = pa, *b = pb;
	int r = 0;
	size_t i;

	for (i = 0; r == 0 && i < SORT_KEY_COUNT_; i++)
		r = keys[s->sort->keys[i]].compare(s, a, b);
	return s->sort->reverse ? -r : r;
}

struct named_image {
	const char *name;
	uint32_t image;
};

static int compare_names(const void *pa, const void *pb)
{
	const struct named_image *a = pa, *b = pb;

	return strcmp(a->name, b->name);
}

/* The rank of each image by the name it is shown under; equal names have equal rank. */
static uint32_t *rank_images(const struct gather *g, bool long_names)
{
	_cleanup_free_ struct named_image *names = xcalloc(g->image_count + 1, sizeof(*names));
	uint32_t *rank = xcalloc(g->image_count + 1, sizeof(*rank)), at = 0;
	size_t i;

	for (i = 0; i < g->image_count; i++)
		names[i] = (struct named_image){ report_image_name(g, (uint32_t)i, long_names),
						 (uint32_t)i };
	qsort(names, g->image_count, sizeof(*names), compare_names);
	for (i = 0; i < g->image_count; i++) {
		at += i && strcmp(names[i - 1].name, names[i].name);
		rank[names[i].image] = at;
	}
	return rank;
}

void sort_rows(struct container *c, const struct gather *g, const struct sort *sort)
{
	_cleanup_free_ uint32_t *rank = rank_images(g, sort->long_names);
	struct sorting s = { .sort = sort, .rank = rank };

	if (c->count)
		qsort_r(c->rows, c->count, sizeof(*c->rows), compare_rows, &s);
}
