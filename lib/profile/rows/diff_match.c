/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/rows/diff_match.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "file/path.h"
#include "elf/elffile.h"
#include "profile/binary/binary.h"
#include "profile/rows/container.h"
#include "profile/rows/row_places.h"
#include "profile/select/gather.h"
#include "sfile/sfile.h"

#include <stdlib.h>
#include <string.h>

/* --- images --- */

/* The name by which images correspond first: that of the build. */
static const char *full_name(const struct gather_image *i)
{
	return i->shown;
}

/* The name by which builds of one file correspond: its path. */
static const char *path_name(const struct gather_image *i)
{
	return i->id.kind == SNAME_ANON ? i->shown : i->display;
}

/* The name by which images with different paths correspond: the last part of the path; for
 * anonymous memory, which moves, the label. */
static const char *short_name(const struct gather_image *i)
{
	return i->id.kind == SNAME_ANON ? i->id.name : path_base(i->display);
}

struct image_matching {
	const struct gather *first;
	struct gather *second;
	size_t second_count; /* number of images before any were added */
	uint32_t *partners;  /* by image of the first */
	bool *first_done, *second_done;
};

/* An image that has no partner yet. */
struct single {
	const char *name;
	enum sname_kind kind;
	uint32_t image;
};

static int compare_names(const struct single *a, const struct single *b)
{
	return a->kind != b->kind ? (a->kind > b->kind) - (a->kind < b->kind)
				  : strcmp(a->name, b->name);
}

static int compare_singles(const void *pa, const void *pb)
{
	const struct single *a = pa, *b = pb;
	int r = compare_names(a, b);

	return r ? r : (a->image > b->image) - (a->image < b->image);
}

/* Images of one side without partners, by kind, name and number. There may be very many regions of
 * memory. */
struct singles {
	struct single *list;
	size_t count;
};

static struct singles singles_of(const struct gather *g, size_t count, const bool *has_partner,
				 const char *(*name)(const struct gather_image *i))
{
	struct singles s = { .list = xcalloc(count + 1, sizeof(*s.list)) };
	size_t i;

	for (i = 0; i < count; i++)
		if (!has_partner[i])
			s.list[s.count++] = (struct single){ name(&g->images[i]),
							     g->images[i].id.kind, (uint32_t)i };
	if (s.count)
		qsort(s.list, s.count, sizeof(*s.list), compare_singles);
	return s;
}

/* The end of those from @at on that have one name. */
static size_t end_of_name(const struct singles *s, size_t at)
{
	size_t end = at + 1;

	while (end < s->count && compare_names(&s->list[at], &s->list[end]) == 0)
		end++;
	return end;
}

static void pair_images(struct image_matching *m, const struct single *a, const struct single *b)
{
	m->partners[a->image] = b->image;
	m->first_done[a->image] = true;
	m->second_done[b->image] = true;
}

/* Pairs those that have one name: in the order of their numbers, or, if @only, if there is just one
 * on each side. */
static void match_by(struct image_matching *m, const char *(*name)(const struct gather_image *i),
		     bool only)
{
	struct singles a = singles_of(m->first, m->first->image_count, m->first_done, name);
	struct singles b = singles_of(m->second, m->second_count, m->second_done, name);
	size_t i = 0, k = 0;

	while (i < a.count && k < b.count) {
		size_t i_end = end_of_name(&a, i), k_end = end_of_name(&b, k), n;
		int order = compare_names(&a.list[i], &b.list[k]);
		size_t most = MIN(i_end - i, k_end - k);

		if (only && (i_end - i != 1 || k_end - k != 1))
			most = 0;
		for (n = 0; order == 0 && n < most; n++)
			pair_images(m, &a.list[i + n], &b.list[k + n]);
		i = order <= 0 ? i_end : i;
		k = order >= 0 ? k_end : k;
	}
	free(a.list);
	free(b.list);
}

static void match_by_names(struct image_matching *m)
{
	match_by(m, full_name, false);
	match_by(m, path_name, false);
	match_by(m, short_name, true);
}

static void add_missing(struct image_matching *m)
{
	size_t a;

	for (a = 0; a < m->first->image_count; a++)
		if (!m->first_done[a])
			m->partners[a] = gather_add_image(m->second, &m->first->images[a]);
}

/* Does it with those that have samples, as if the others were done. A session knows all builds that
 * it has seen, also those that the time which is compared has nothing of. */
static void match_sampled(struct image_matching *m, const struct diff_images *sampled)
{
	_cleanup_free_ bool *first_done = xcalloc(m->first->image_count + 1, sizeof(bool));
	_cleanup_free_ bool *second_done = xcalloc(m->second_count + 1, sizeof(bool));
	struct image_matching only = *m;
	size_t i;

	only.first_done = first_done;
	only.second_done = second_done;
	for (i = 0; i < m->first->image_count; i++)
		first_done[i] = !sampled->first[i];
	for (i = 0; i < m->second_count; i++)
		second_done[i] = !sampled->second[i];
	match_by_names(&only);
	for (i = 0; i < m->first->image_count; i++)
		m->first_done[i] = first_done[i] && sampled->first[i];
	for (i = 0; i < m->second_count; i++)
		m->second_done[i] = second_done[i] && sampled->second[i];
}

uint32_t *diff_match_images(const struct gather *first, struct gather *second,
			    const struct diff_images *sampled)
{
	_cleanup_free_ bool *first_done = xcalloc(first->image_count + 1, sizeof(bool));
	_cleanup_free_ bool *second_done = xcalloc(second->image_count + 1, sizeof(bool));
	struct image_matching m = { .first = first,
				    .second = second,
				    .second_count = second->image_count,
				    .partners = xcalloc(first->image_count + 1, sizeof(uint32_t)),
				    .first_done = first_done,
				    .second_done = second_done };

	if (sampled)
		match_sampled(&m, sampled);
	match_by_names(&m);
	add_missing(&m);
	return m.partners;
}

/* --- rows --- */

/* Rows of both sides with the same key, which must always agree. */
struct group {
	uint32_t first[2]; /* by side: the latest row; further ones follow by matching.next */
	uint32_t count[2];
};

struct row_matching {
	const struct diff_side *sides[2];
	const uint32_t *images; /* images of the first, by numbers of the second */
	struct map groups;	/* by hash */
	struct arena arena;	/* holds them */
	uint32_t *next[2];	/* by row: the next one of its group */
	uint32_t *partners;	/* by row of the first */
};

/* A row's key, with the images' numbers of the second side. */
struct row_key {
	uint32_t image, app;
	bool is_symbol, is_unnamed, is_inlined;
	const char *name;
};

static struct row_key key_of(const struct row_matching *m, unsigned int side, uint32_t index)
{
	const struct row *row = &m->sides[side]->container->rows[index];
	struct row_key key = { .image = row->image,
			       .app = row->app,
			       .is_symbol = row->kind == ROW_SYMBOL,
			       .is_unnamed = row->kind == ROW_UNNAMED,
			       .is_inlined = row->is_inlined,
			       .name = row->kind == ROW_SYMBOL ? row->symbol->name
				       : row->kind == ROW_RARE ? row_kind_text(row->kind)
							       : "" };

	if (side == 0) {
		key.image = m->images[key.image];
		if (key.app != GATHER_NONE)
			key.app = m->images[key.app];
	}
	return key;
}

static bool same_key(const struct row_key *a, const struct row_key *b)
{
	return a->image == b->image && a->app == b->app && a->is_symbol == b->is_symbol &&
	       a->is_unnamed == b->is_unnamed && a->is_inlined == b->is_inlined &&
	       !strcmp(a->name, b->name);
}

static struct row_key key_of_group(const struct row_matching *m, const struct group *group)
{
	unsigned int side = group->count[0] ? 0 : 1;

	return key_of(m, side, group->first[side]);
}

static struct group *find_group(struct row_matching *m, const struct row_key *key)
{
	uint64_t hash = hash_add(hash_bytes(key->name, strlen(key->name)),
				 (uint64_t)key->image << 32 | key->app);
	struct group *group;

	hash = hash_add(hash, (uint64_t)key->is_inlined << 2 | (uint64_t)key->is_symbol << 1 |
				      key->is_unnamed);
	map_for_each_of(&m->groups, hash, group)
	{
		struct row_key known = key_of_group(m, group);

		if (same_key(&known, key))
			return group;
	}
	group = arena_alloc(&m->arena, sizeof(*group));
	*group = (struct group){ .first = { GATHER_NONE, GATHER_NONE } };
	map_add(&m->groups, hash, group);
	return group;
}

static void group_rows(struct row_matching *m, unsigned int side)
{
	size_t count = m->sides[side]->container->count, i;

	m->next[side] = xcalloc(count + 1, sizeof(*m->next[side]));
	for (i = 0; i < count; i++) {
		struct row_key key = key_of(m, side, (uint32_t)i);
		struct group *group = find_group(m, &key);

		m->next[side][i] = group->first[side];
		group->first[side] = (uint32_t)i;
		group->count[side]++;
	}
}

/* Calls @work for each group that has rows on both sides. */
static void for_each_pair(struct row_matching *m,
			  void (*work)(struct row_matching *m, const struct group *group))
{
	map_for_each (&m->groups, slot) {
		const struct group *group = slot->value;

		if (group->count[0] && group->count[1])
			work(m, group);
	}
}

/* --- several symbols of one name --- */

static bool is_ambiguous(const struct group *group)
{
	return group->count[0] > 1 || group->count[1] > 1;
}

/* Marks rows that their names do not distinguish, to look up their lines. */
static void mark_ambiguous(struct row_matching *m, const struct group *group)
{
	unsigned int side;
	uint32_t i;

	if (!is_ambiguous(group))
		return;
	for (side = 0; side < 2; side++)
		for (i = group->first[side]; i != GATHER_NONE; i = m->next[side][i])
			m->sides[side]->container->rows[i].needs_place = true;
}

static int compare_places(const void *pa, const void *pb)
{
	const struct row *a = *(const struct row *const *)pa, *b = *(const struct row *const *)pb;
	int r = strcmp(a->place.file ?: "", b->place.file ?: "");

	if (r == 0)
		r = (a->place.line > b->place.line) - (a->place.line < b->place.line);
	return r ? r : (a->address > b->address) - (a->address < b->address);
}

/* The rows of a group, sorted by file, line and address. Caller frees. */
static struct row **sorted_rows(const struct row_matching *m, const struct group *group,
				unsigned int side)
{
	struct row **rows = xcalloc(group->count[side], sizeof(struct row *));
	size_t n = 0;
	uint32_t i;

	for (i = group->first[side]; i != GATHER_NONE; i = m->next[side][i])
		rows[n++] = &m->sides[side]->container->rows[i];
	qsort(rows, n, sizeof(struct row *), compare_places);
	return rows;
}

static void pair_rows(struct row_matching *m, const struct row *first, const struct row *second)
{
	m->partners[first - m->sides[0]->container->rows] =
		(uint32_t)(second - m->sides[1]->container->rows);
}

static bool same_file(const struct row *a, const struct row *b)
{
	return !strcmp(a->place.file ?: "", b->place.file ?: "");
}

/* Pairs each row of the first side with the first remaining one of the second that fits; removes
 * both from the lists. */
static void pair_fitting(struct row_matching *m, const struct group *group, struct row **rows[2],
			 bool same_line)
{
	size_t a, b;

	for (a = 0; a < group->count[0]; a++) {
		for (b = 0; rows[0][a] && b < group->count[1]; b++) {
			if (!rows[1][b] || !same_file(rows[0][a], rows[1][b]) ||
			    (same_line && rows[0][a]->place.line != rows[1][b]->place.line))
				continue;
			pair_rows(m, rows[0][a], rows[1][b]);
			rows[0][a] = rows[1][b] = NULL;
		}
	}
}

static void match_group(struct row_matching *m, const struct group *group)
{
	_cleanup_free_ struct row **first = sorted_rows(m, group, 0);
	_cleanup_free_ struct row **second = sorted_rows(m, group, 1);
	struct row **rows[2] = { first, second };

	if (!is_ambiguous(group)) {
		pair_rows(m, first[0], second[0]);
		return;
	}
	pair_fitting(m, group, rows, true);
	pair_fitting(m, group, rows, false);
}

uint32_t *diff_match_rows(const struct diff_side *first, const struct diff_side *second,
			  const uint32_t *images)
{
	struct row_matching m = { .sides = { first, second }, .images = images };
	size_t count = first->container->count, i;

	m.partners = xcalloc(count + 1, sizeof(*m.partners));
	for (i = 0; i < count; i++)
		m.partners[i] = GATHER_NONE;
	group_rows(&m, 0);
	group_rows(&m, 1);
	for_each_pair(&m, mark_ambiguous);
	row_places_find(first->container, first->gather, first->binaries);
	row_places_find(second->container, second->gather, second->binaries);
	for_each_pair(&m, match_group);
	map_done(&m.groups);
	arena_done(&m.arena);
	free(m.next[0]);
	free(m.next[1]);
	return m.partners;
}
