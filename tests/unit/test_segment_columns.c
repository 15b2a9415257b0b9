/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/hash.h"
#include "history/internal/segment_columns.h"
#include "history/internal/segment_roll.h"
#include "history/segment.h"
#include "history/segment_made.h"
#include "history/slice_file.h"

enum { MINUTE = 60000, SLICES = 144, NODES = 400 };

static void ranks_grow_with_totals(void)
{
	static const struct {
		uint64_t total;
		unsigned int rank;
	} rows[] = {
		{ 0, 0 }, { 1, 1 }, { 3, 3 },  { 4, 4 },   { 5, 5 },   { 7, 7 },
		{ 8, 8 }, { 9, 8 }, { 10, 9 }, { 36, 16 }, { 40, 17 }, { UINT64_MAX, 251 },
	};
	uint64_t total;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(segment_columns_rank(rows[i].total), rows[i].rank);
	for (total = 0; total < 5000; total++)
		CHECK(segment_columns_rank(total) <= segment_columns_rank(total + 1));
	CHECK_EQ(segment_columns_least(0), 1);
	CHECK_EQ(segment_columns_least(SLICES), segment_columns_rank(37));
}

/* The count of a node in a slice: most are small, a few large, and each is about the same in all of
 * them; every tenth node has counts in few slices. */
static uint64_t count_of(size_t node, size_t slice)
{
	const uint64_t noise = hash_u64(node << 16 | slice);

	if (node % 10 == 0)
		return noise % 40 == 0;
	return hash_u64(node) % 16 * (hash_u64(node) % 16) / 8 + noise % 2;
}

static struct segment *make(uint64_t (*count)(size_t node, size_t slice))
{
	struct segment_made m = { 0 };
	uint32_t line, root, nodes[NODES];
	size_t i, k;

	segment_tree_init(&m.tree);
	line = segment_tree_line(&m.tree, "program");
	root = segment_tree_node(&m.tree, 0, line, 0);
	for (i = 0; i < NODES; i++)
		nodes[i] = segment_tree_node(&m.tree, root, line, 16 * i + 1);
	for (k = 0; k < SLICES; k++) {
		int64_t at = (int64_t)k * 10 * MINUTE;
		const struct segment_slice s = {
			.slice = { { at, at + 10 * MINUTE }, .samples = 100, .taken = 100 },
			.covered_ms = 10 * MINUTE,
			.generation = 1,
		};

		for (i = 0; i < NODES; i++)
			if (count(i, k))
				segment_made_count(&m, nodes[i], count(i, k));
		segment_made_slice(&m, &s);
	}
	return segment_of(&m);
}

static struct segment *roll(uint64_t (*count)(size_t node, size_t slice), bool is_small,
			    struct strbuf *bytes)
{
	const struct segment_rolling how = { .about = { .level = 2, .first = 1, .last = 1 },
					     .slice_ms = 10 * MINUTE,
					     .is_small = is_small };
	_cleanup_(segment_freep) struct segment *made = make(count);
	struct segment *s = NULL;

	CHECK_EQ(segment_roll(&how, &made, 1, bytes), 0);
	CHECK_EQ(segment_open_bytes(bytes->text, bytes->length, &s, NULL), 0);
	CHECK_EQ(segment_load(s, NULL), 0);
	CHECK_EQ(segment_check(s, NULL), 0);
	return s;
}

static void a_smaller_segment_has_the_same_slices(void)
{
	_cleanup_(strbuf_done) struct strbuf large = STRBUF_INIT, small = STRBUF_INIT;
	_cleanup_(segment_freep) struct segment *a = roll(count_of, false, &large),
						*b = roll(count_of, true, &small);
	struct segment_counts x, y;
	size_t i, k;

	CHECK(small.length < large.length * 3 / 4);
	CHECK_EQ(segment_about(a)->slices, SLICES);
	CHECK_EQ(segment_about(b)->slices, SLICES);
	for (i = 0; i < SLICES; i++) {
		CHECK_EQ(segment_counts(a, i, &x), 0);
		CHECK_EQ(segment_counts(b, i, &y), 0);
		CHECK_EQ(x.count, y.count);
		for (k = 0; k < x.count; k++) {
			CHECK_EQ(x.nodes[k], y.nodes[k]);
			CHECK_EQ(x.counts[k], y.counts[k]);
		}
	}
}

static uint64_t huge(size_t node, size_t slice)
{
	return node ? slice % 2 : UINT64_MAX - slice;
}

static void counts_that_overflow_are_kept_at_the_most(void)
{
	_cleanup_(strbuf_done) struct strbuf bytes = STRBUF_INIT;
	_cleanup_(segment_freep) struct segment *s = roll(huge, true, &bytes);

	CHECK_EQ(segment_about(s)->counts, UINT64_MAX);
}

static void damaged_slices_are_not_read(void)
{
	/* The nodes 2 and 4 have columns, 4 first. */
	static const uint64_t totals[] = { 0, 1, 8, 0, 32, 2 };
	static const struct {
		const char *what;
		uint8_t bytes[8];
		size_t size, count;
		bool good;
	} rows[] = {
		{ "both kinds", { 9, 0, 1, 4, 1, 2 }, 6, 3, true },
		{ "columns only", { 9, 7 }, 2, 2, true },
		{ "short columns", { 9 }, 1, 1, false },
		{ "fewer than in columns", { 9, 7 }, 2, 1, false },
		{ "no number", { 9, 0, 0, 1 }, 4, 2, false },
		{ "number of a column", { 9, 7, 2, 1 }, 4, 3, false },
		{ "number too large", { 9, 0, 6, 1 }, 4, 2, false },
		{ "a count is missing", { 9, 0, 1, 4, 1 }, 5, 3, false },
		{ "a count too many", { 9, 0, 1, 4, 1, 2, 3 }, 7, 3, false },
		{ "a count of 0", { 9, 0, 1, 0 }, 4, 2, true },
	};
	struct segment_columns c;
	uint32_t ids[8];
	uint64_t counts[8];
	size_t i;

	segment_columns_init(&c, totals, ARRAY_SIZE(totals) - 1, segment_columns_rank(8));
	CHECK_EQ(c.count, 2);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct segment_list list = { ids, counts, rows[i].count };
		struct slice_numbers n = { rows[i].bytes, rows[i].bytes + rows[i].size, false };

		if (segment_columns_read(&c, n, ARRAY_SIZE(totals) - 1, &list) != rows[i].good)
			CHECK_STR(rows[i].what, "");
	}
	segment_columns_done(&c);
}

TESTS(T(ranks_grow_with_totals), T(a_smaller_segment_has_the_same_slices),
      T(counts_that_overflow_are_kept_at_the_most), T(damaged_slices_are_not_read))
