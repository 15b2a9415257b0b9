/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/sort.h"

#include "base/mem.h"
#include "base/parse.h"
#include "base/radix.h"
#include "file/path.h"
#include "profile/rows/container.h"
#include "profile/rows/diff.h"
#include "profile/select/gather.h"

#include <errno.h>
#include <string.h>

/* Data that keys need besides the rows. */
struct sorting {
	const struct sort *sort;
	const struct container *container;
	struct row *rows;
	size_t class_count;
	uint32_t *rank;	     /* rank of each image's name */
	uint32_t *path_rank; /* and of its path */
	struct radix_entry *spare;
};

static uint64_t number_of_difference(const struct sorting *s, const struct row *row)
{
	return diff_rank(s->container, row);
}

static uint64_t number_of_sample(const struct sorting *s, const struct row *row)
{
	return UINT64_MAX - container_sum(row->counts, s->class_count);
}

static uint64_t number_of_image(const struct sorting *s, const struct row *row)
{
	return s->rank[row->image];
}

static uint64_t number_of_app(const struct sorting *s, const struct row *row)
{
	return row->app == GATHER_NONE ? 0 : s->rank[row->app];
}

static uint64_t number_of_vma(const struct sorting *s _unused_, const struct row *row)
{
	return row->address;
}

static const char *text_of_symbol(const struct row *row)
{
	return row->text;
}

/* Rows without a place come last: no path starts with this byte twice. */
static const char *text_of_file(const struct row *row)
{
	return row->place.file ? row->place.file : "\xff\xff";
}

static uint64_t number_of_line(const struct sorting *s _unused_, const struct row *row)
{
	return row->place.line;
}

static uint64_t number_of_path(const struct sorting *s, const struct row *row)
{
	return (uint64_t)s->path_rank[row->image] << 32 |
	       (row->app == GATHER_NONE ? 0 : s->path_rank[row->app]);
}

/* A key is a text, a number, or both; the text decides first. */
static const struct {
	const char *name; /* NULL: no option names it */
	uint64_t (*number)(const struct sorting *s, const struct row *row);
	const char *(*text)(const struct row *row);
} keys[] = {
	[SORT_DIFFERENCE] = { "difference", number_of_difference, NULL },
	[SORT_SAMPLE] = { "sample", number_of_sample, NULL },
	[SORT_IMAGE] = { "image", number_of_image, NULL },
	[SORT_APP_NAME] = { "app-name", number_of_app, NULL },
	[SORT_SYMBOL] = { "symbol", NULL, text_of_symbol },
	[SORT_VMA] = { "vma", number_of_vma, NULL },
	[SORT_DEBUG] = { "debug", number_of_line, text_of_file },
	[SORT_PATH] = { NULL, number_of_path, NULL },
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
		if (keys[i].name && !strcmp(part, keys[i].name)) {
			add_key(p, (enum sort_key)i);
			return 0;
		}
	}
	return error_set(p->err, -EINVAL,
			 "--sort: '%s' is not one of sample, difference, image, app-name, symbol, "
			 "vma, debug",
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

/* The state of a sort: the current key and, in its text, how far all rows agree. */
struct stage {
	size_t key; /* index in the sort's keys */
	size_t depth;
	bool past_text; /* its number decides */
};

static bool is_text(const struct sorting *s, struct stage stage)
{
	return !stage.past_text && keys[s->sort->keys[stage.key]].text;
}

/* A part of a text as a number with the same order; bytes after its end are zero. */
static uint64_t text_part(const char *text, size_t depth)
{
	uint64_t part = 0;
	size_t i;

	for (i = 0; i < sizeof(part) && text[depth + i]; i++)
		part |= (uint64_t)(unsigned char)text[depth + i] << (56 - 8 * i);
	return part;
}

static uint64_t part_at(const struct sorting *s, struct stage stage, const struct row *row)
{
	enum sort_key key = s->sort->keys[stage.key];

	return is_text(s, stage) ? text_part(keys[key].text(row), stage.depth)
				 : keys[key].number(s, row);
}

/* The next stage for rows that agree in the current part of a text (NULL: in all of it), or in the
 * number. */
static struct stage next_stage(const struct sorting *s, struct stage stage, const uint64_t *part)
{
	if (is_text(s, stage)) {
		if (part && (*part & 0xff))
			return (struct stage){ stage.key, stage.depth + sizeof(*part), false };
		if (keys[s->sort->keys[stage.key]].number)
			return (struct stage){ stage.key, 0, true };
	}
	return (struct stage){ stage.key + 1, 0, false };
}

static int compare_rows(const struct sorting *s, struct stage stage, const struct row *a,
			const struct row *b)
{
	int r = 0;

	for (; r == 0 && stage.key < SORT_KEY_COUNT_; stage = next_stage(s, stage, NULL)) {
		enum sort_key key = s->sort->keys[stage.key];

		if (is_text(s, stage)) {
			const char *x = keys[key].text(a), *y = keys[key].text(b);

			r = x == y ? 0 : strcmp(x + stage.depth, y + stage.depth);
		} else {
			uint64_t x = keys[key].number(s, a), y = keys[key].number(s, b);

			r = (x > y) - (x < y);
		}
	}
	return r;
}

struct comparison {
	const struct sorting *s;
	struct stage stage;
};

static int compare_entries(const void *pa, const void *pb, void *data)
{
	const struct radix_entry *a = pa, *b = pb;
	const struct comparison *c = data;

	return compare_rows(c->s, c->stage, &c->s->rows[a->value], &c->s->rows[b->value]);
}

/* Sorts entries that agree before @stage: by its key as a number, then those that agree in it by
 * the next stage. Few entries, and texts with long common prefixes, are compared instead. */
static void sort_entries(const struct sorting *s, struct radix_entry *entries, size_t count,
			 struct stage stage)
{
	enum { FEW = 12, DEEP = 512 };
	size_t i, end;

	if (count < 2 || stage.key == SORT_KEY_COUNT_)
		return;
	if (count < FEW || stage.depth > DEEP) {
		struct comparison c = { s, stage };

		qsort_r(entries, count, sizeof(*entries), compare_entries, &c);
		return;
	}
	for (i = 0; i < count; i++)
		entries[i].key = part_at(s, stage, &s->rows[entries[i].value]);
	radix_sort(entries, s->spare, count);
	for (i = 0; i < count; i = end) {
		uint64_t part = entries[i].key;

		for (end = i + 1; end < count && entries[end].key == part; end++)
			;
		sort_entries(s, entries + i, end - i, next_stage(s, stage, &part));
	}
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

/* The name that an image is ordered by: the one it is shown under but, for the kernel, that of its
 * file, so that rows are in the order of OProfile 1.x. */
static const char *name_of(const struct gather *g, uint32_t image, bool is_long)
{
	const struct gather_image *i = &g->images[image];

	return i->kernel && !is_long ? path_base(i->shown) : gather_image_name(g, image, is_long);
}

/* Which images the rows have; the caller frees. */
static bool *find_images(const struct container *c, const struct gather *g)
{
	bool *is_used = xcalloc(g->image_count + 1, sizeof(*is_used));
	size_t i;

	for (i = 0; i < c->count; i++) {
		is_used[c->rows[i].image] = true;
		if (c->rows[i].app != GATHER_NONE)
			is_used[c->rows[i].app] = true;
	}
	return is_used;
}

/* The rank of each image that is used by its name; equal names have equal rank. */
static uint32_t *rank_images(const struct gather *g, const bool *is_used, bool long_names)
{
	_cleanup_free_ struct named_image *names = xcalloc(g->image_count + 1, sizeof(*names));
	uint32_t *rank = xcalloc(g->image_count + 1, sizeof(*rank)), at = 0;
	size_t count = 0, i;

	for (i = 0; i < g->image_count; i++)
		if (is_used[i])
			names[count++] = (struct named_image){ name_of(g, (uint32_t)i, long_names),
							       (uint32_t)i };
	qsort(names, count, sizeof(*names), compare_names);
	for (i = 0; i < count; i++) {
		at += i && strcmp(names[i - 1].name, names[i].name);
		rank[names[i].image] = at;
	}
	return rank;
}

/* Puts the rows in the order of the entries, which are consumed, or in reverse. Works in place,
 * along the cycles of the permutation, because rows take most of a report's memory. */
static void reorder(struct container *c, struct radix_entry *entries, bool reverse)
{
	size_t i, j, from, n = c->count;

	for (i = 0; reverse && i < n / 2; i++) {
		struct radix_entry entry = entries[i];

		entries[i] = entries[n - 1 - i];
		entries[n - 1 - i] = entry;
	}
	for (i = 0; i < n; i++) {
		struct row row = c->rows[i];

		for (j = i; (from = entries[j].value) != i && from < n; j = from) {
			c->rows[j] = c->rows[from];
			entries[j].value = n;
		}
		if (from == i) {
			c->rows[j] = row;
			entries[j].value = n;
		}
	}
}

void sort_rows(struct container *c, const struct gather *g, const struct sort *sort)
{
	_cleanup_free_ bool *is_used = find_images(c, g);
	_cleanup_free_ uint32_t *rank = rank_images(g, is_used, sort->long_names);
	_cleanup_free_ uint32_t *path_rank = rank_images(g, is_used, true);
	_cleanup_free_ struct radix_entry *entries = xcalloc(c->count, sizeof(*entries));
	_cleanup_free_ struct radix_entry *spare = xcalloc(c->count, sizeof(*spare));
	struct sorting s = { .sort = sort,
			     .container = c,
			     .rows = c->rows,
			     .class_count = c->class_count,
			     .rank = rank,
			     .path_rank = path_rank,
			     .spare = spare };
	size_t i;

	for (i = 0; i < c->count; i++)
		entries[i].value = i;
	sort_entries(&s, entries, c->count, (struct stage){ 0 });
	reorder(c, entries, sort->reverse);
}
