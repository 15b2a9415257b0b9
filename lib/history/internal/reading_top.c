/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/reading_top.h"

#include "base/mem.h"
#include "base/radix.h"
#include "history/internal/generations.h"
#include "history/internal/reading.h"

#include <stdlib.h>
#include <string.h>

/* Fewer pairs are named: then a report knows how many rows it does not show. */
enum { FEW = 1000 };

/* No file has this name. */
static const struct sname_image rest_image = { .kind = SNAME_ROOT, .name = "/[rest]" };

/* An application and an image, whose symbols have rows of their own. */
struct pair {
	const char *path; /* the part that names it */
	size_t length;
	uint64_t sum;
	uint64_t key, most; /* of its largest entry */
	uint64_t of_key;    /* the samples of all entries with that key */
};

/* The files that have one event and task. */
struct rest {
	const char *event; /* the end of their names */
	uint32_t file;	   /* that they are added up to */
};

struct top {
	struct reading *r;
	struct pair *pairs; /* pair 0 is none: of lines that must be parsed */
	size_t count, room;
	struct map by_path;
	uint32_t *pair_of; /* by line, from 1 on */
	uint32_t *file_of; /* the same; 0: the line is damaged */
	uint64_t least;	   /* a pair with fewer samples has none of the symbols */
	struct rest *rests;
	size_t rest_count, rest_room;
	struct map by_event; /* of ->rests, by hash: number + 1 */
};

/* The path of a line: its last column. */
static const char *path_of(const char *line)
{
	const char *tab = strrchr(line, '\t');

	return tab ? tab + 1 : line;
}

static uint32_t find_pair(struct top *t, const char *path, size_t length)
{
	const uint64_t hash = hash_text(path, length);
	uintptr_t known;

	map_for_each_of(&t->by_path, hash, known)
	{
		if (t->pairs[known].length == length && !memcmp(t->pairs[known].path, path, length))
			return (uint32_t)known;
	}
	array_grow(&t->pairs, t->count + 1, &t->room);
	t->pairs[t->count] = (struct pair){ .path = path, .length = length };
	map_add(&t->by_path, hash, (void *)(uintptr_t)t->count);
	return (uint32_t)t->count++;
}

static void find_pairs(struct top *t)
{
	size_t i;

	array_grow(&t->pairs, 1, &t->room);
	t->pairs[t->count++] = (struct pair){ 0 };
	t->pair_of = xcalloc(t->r->unparsed_count + 1, sizeof(*t->pair_of));
	for (i = 1; i <= t->r->unparsed_count; i++) {
		const char *path = path_of(t->r->unparsed[i - 1]);
		size_t length = sname_pool_pair(path);

		t->pair_of[i] = length ? find_pair(t, path, length) : 0;
	}
	map_done(&t->by_path);
}

static void add_up(uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = UINT64_MAX;
}

/* Finds the samples of each pair, and of the key of its largest entry. */
static void measure(struct top *t)
{
	const struct pile *p = &t->r->pile;
	size_t i;

	for (i = 0; i < p->count; i++) {
		struct pair *pair = &t->pairs[t->pair_of[p->entries[i].file]];

		add_up(&pair->sum, p->entries[i].count);
		if (p->entries[i].count <= pair->most)
			continue;
		pair->most = p->entries[i].count;
		pair->key = p->entries[i].key;
	}
	for (i = 0; i < p->count; i++) {
		struct pair *pair = &t->pairs[t->pair_of[p->entries[i].file]];

		if (p->entries[i].key == pair->key)
			add_up(&pair->of_key, p->entries[i].count);
	}
}

/* How many pairs have fewer samples than @least. */
static size_t count_below(const struct top *t, uint64_t least)
{
	size_t i, n = 0;

	for (i = 1; i < t->count; i++)
		n += t->pairs[i].sum && t->pairs[i].sum < least;
	return n;
}

/* Finds how many samples a pair needs; returns how many pairs have less. There are symbols with as
 * many in ->top pairs. */
static size_t choose(struct top *t)
{
	_cleanup_free_ struct radix_entry *entries = xcalloc(2 * t->count, sizeof(*entries));
	const size_t top = t->r->top;
	size_t i, below;

	for (i = 1; i < t->count; i++)
		entries[i].key = t->pairs[i].of_key;
	radix_sort(entries, entries + t->count, t->count);
	t->least = t->count > top ? entries[t->count - top].key : 0;
	below = count_below(t, t->least);
	if (below >= FEW)
		return below;
	t->least = 0;
	return 0;
}

/* Makes the file that files with an event and task are added up to. The header is that of the first
 * one. 0 if its line is damaged. */
static uint32_t make_rest(struct top *t, const char *line)
{
	uint32_t file = reading_parse(t->r, line);
	struct history_file rest;

	if (!file)
		return 0;
	rest = t->r->files[file - 1];
	rest.name.app = rest.name.image = &rest_image;
	file = reading_file(t->r, &rest);
	t->r->files[file - 1].is_rest = true;
	return file;
}

/* That file; it is made if there is none. */
static uint32_t rest_file(struct top *t, const char *line, const char *event)
{
	const uint64_t hash = hash_text(event, strlen(event));
	uintptr_t known;
	uint32_t file;

	map_for_each_of(&t->by_event, hash, known)
	{
		if (!strcmp(t->rests[known - 1].event, event))
			return t->rests[known - 1].file;
	}
	file = make_rest(t, line);
	if (!file)
		return 0;
	array_grow(&t->rests, t->rest_count + 1, &t->rest_room);
	t->rests[t->rest_count++] = (struct rest){ event, file };
	map_add(&t->by_event, hash, (void *)(uintptr_t)t->rest_count);
	return file;
}

static void name_lines(struct top *t)
{
	struct reading *r = t->r;
	size_t i;

	t->file_of = xcalloc(r->unparsed_count + 1, sizeof(*t->file_of));
	for (i = 1; i <= r->unparsed_count; i++) {
		const char *line = r->unparsed[i - 1];
		const struct pair *pair = &t->pairs[t->pair_of[i]];

		t->file_of[i] = t->pair_of[i] && pair->sum < t->least
					? rest_file(t, line, path_of(line) + pair->length)
					: reading_parse(r, line);
		r->damaged += t->file_of[i] ? 0 : strlen(line);
	}
}

/* Gives the entries the numbers of their files, and adds up those of the rest. */
static void move_entries(struct top *t)
{
	struct reading *r = t->r;
	_cleanup_free_ uint64_t *sums = xcalloc(r->file_count + 1, sizeof(*sums));
	struct pile *p = &r->pile;
	size_t i, n = 0;

	for (i = 0; i < p->count; i++) {
		struct history_count e = p->entries[i];

		e.file = t->file_of[e.file];
		if (!e.file)
			reading_unfold(r, &e);
		else if (r->files[e.file - 1].is_rest)
			add_up(&sums[e.file], e.count);
		else
			p->entries[n++] = e;
	}
	p->count = n;
	for (i = 1; i <= r->file_count; i++) {
		if (!sums[i])
			continue;
		array_grow(&p->entries, p->count + 1, &p->room);
		p->entries[p->count++] =
			(struct history_count){ .file = (uint32_t)i, .count = sums[i] };
	}
}

size_t reading_name_top(struct reading *r)
{
	struct top t = { .r = r };
	size_t below;

	map_done(&r->by_text); /* it is large, and complete */
	find_pairs(&t);
	measure(&t);
	below = choose(&t);
	name_lines(&t);
	move_entries(&t);
	map_done(&t.by_event);
	free(t.rests);
	free(t.pairs);
	free(t.pair_of);
	free(t.file_of);
	return below;
}
