/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "dwarf/internal/nested_ranges.h"

enum { NONE = UINT32_MAX };

/* What is at each of the addresses 0 to 9. */
static void check_at(struct nested_ranges *s, const uint32_t expected[10], const char *what)
{
	uint64_t address;

	for (address = 0; address < 10; address++) {
		uint32_t value = NONE;
		bool found = nested_ranges_find(s, address, &value);

		if (!CHECK(found == (expected[address] != NONE) && value == expected[address]))
			printf("# %s: %u at %u, expected %u\n", what, value, (unsigned int)address,
			       expected[address]);
	}
}

static void the_innermost_piece_counts(void)
{
	static const struct {
		const char *what;
		struct nested_ranges_piece pieces[4];
		uint32_t expected[10];
	} rows[] = {
		{ "nested",
		  { { 1, 9, 0, 0 }, { 2, 8, 1, 1 }, { 4, 5, 2, 2 }, { 6, 8, 2, 3 } },
		  { NONE, 0, 1, 1, 2, 1, 3, 3, 0, NONE } },
		{ "one after the other",
		  { { 5, 7, 0, 1 }, { 1, 5, 0, 0 }, { 8, 9, 0, 2 }, { 3, 3, 9, 3 } },
		  { NONE, 0, 0, 0, 0, 1, 1, NONE, 2, NONE } },
		{ "equal: the first",
		  { { 2, 4, 1, 1 }, { 2, 4, 1, 2 }, { 2, 4, 0, 0 }, { 2, 4, 1, 3 } },
		  { NONE, NONE, 1, 1, NONE, NONE, NONE, NONE, NONE, NONE } },
		{ "of one depth: what starts last",
		  { { 0, 9, 0, 0 }, { 2, 6, 0, 1 }, { 4, 8, 0, 2 }, { 9, 9, 0, 3 } },
		  { 0, 0, 1, 1, 2, 2, 2, 2, 0, NONE } },
		{ "the deeper one ends last",
		  { { 0, 4, 0, 0 }, { 2, 7, 1, 1 }, { 3, 5, 0, 2 }, { 3, 3, 0, 3 } },
		  { 0, 0, 1, 1, 1, 1, 1, NONE, NONE, NONE } },
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct nested_ranges s = { 0 };

		for (j = 0; j < ARRAY_SIZE(rows[i].pieces); j++) {
			const struct nested_ranges_piece *p = &rows[i].pieces[j];

			nested_ranges_add(&s, p->start, p->end, p->depth, p->value);
		}
		nested_ranges_settle(&s);
		check_at(&s, rows[i].expected, rows[i].what);
		nested_ranges_done(&s);
	}
}

/* Against the definition, with pieces that overlap in any way. */
static void any_pieces_are_laid_flat(void)
{
	enum { PIECES = 12, ADDRESSES = 40, ROUNDS = 2000 };
	uint32_t random = 1, round;

	for (round = 0; round < ROUNDS; round++) {
		struct nested_ranges_piece pieces[PIECES];
		struct nested_ranges s = { 0 };
		uint32_t i, address, value, best;

		for (i = 0; i < PIECES; i++) {
			random = random * 1664525 + 1013904223;
			pieces[i] = (struct nested_ranges_piece){ random >> 8 & 31,
								  (random >> 8 & 31) +
									  (random >> 16 & 7),
								  random >> 24 & 3, i };
			nested_ranges_add(&s, pieces[i].start, pieces[i].end, pieces[i].depth, i);
		}
		nested_ranges_settle(&s);
		for (address = 0; address < ADDRESSES; address++) {
			for (i = 0, best = NONE; i < PIECES; i++) {
				const struct nested_ranges_piece *p = &pieces[i];
				const struct nested_ranges_piece *b =
					best == NONE ? p : &pieces[best];

				if (address >= p->start && address < p->end &&
				    (best == NONE || p->depth > b->depth ||
				     (p->depth == b->depth && p->start > b->start)))
					best = i;
			}
			value = NONE;
			(void)nested_ranges_find(&s, address, &value);
			CHECK_EQ(value, best);
		}
		nested_ranges_done(&s);
	}
}

static void nothing_is_found_in_nothing(void)
{
	struct nested_ranges s = { 0 };
	uint32_t value;

	nested_ranges_settle(&s);
	CHECK(!nested_ranges_find(&s, 0, &value));
	CHECK(!nested_ranges_find(&s, UINT64_MAX, &value));
	nested_ranges_done(&s);
}

TESTS(T(the_innermost_piece_counts), T(any_pieces_are_laid_flat), T(nothing_is_found_in_nothing))
