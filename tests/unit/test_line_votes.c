/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which lines of two builds are the same, by the code on them. */
#include "test.h"

#include "profile/annotate/internal/line_votes.h"

/* @count instructions of a line on both sides, of which the first @same correspond. */
static void add(struct line_votes *v, uint32_t file, unsigned int from, unsigned int to,
		unsigned int count, unsigned int same)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		line_votes_add_code(v, LINE_FIRST, file, from);
		line_votes_add_code(v, LINE_SECOND, file, to);
		if (i < same)
			line_votes_add(v, file, from, to);
	}
}

static void most_of_the_code_decides(void)
{
	struct line_votes v = { 0 };

	add(&v, 0, 10, 12, 3, 2);
	add(&v, 0, 20, 22, 4, 2);
	line_votes_count(&v);
	CHECK_EQ(line_votes_find(&v, 0, 10), 12);
	CHECK_EQ(line_votes_find(&v, 0, 20), 0); /* half is not most */
	CHECK_EQ(line_votes_find(&v, 1, 10), 0); /* another file */
	line_votes_done(&v);
}

static void a_line_that_is_a_small_part_of_another_is_not_it(void)
{
	struct line_votes v = { 0 };
	unsigned int i;

	add(&v, 0, 10, 12, 2, 2);
	for (i = 0; i < 5; i++) /* the second's line has much more code */
		line_votes_add_code(&v, LINE_SECOND, 0, 12);
	line_votes_count(&v);
	CHECK_EQ(line_votes_find(&v, 0, 10), 0);
	line_votes_done(&v);
}

static void lines_between_are_matched_where_nothing_was_inserted(void)
{
	struct line_votes v = { 0 };

	add(&v, 3, 10, 15, 1, 1);
	add(&v, 3, 14, 19, 1, 1);
	add(&v, 3, 20, 28, 1, 1);
	add(&v, 4, 30, 30, 1, 1);
	line_votes_count(&v);
	CHECK_EQ(line_votes_find(&v, 3, 12), 17);
	CHECK_EQ(line_votes_find(&v, 3, 17), 0); /* six lines became nine */
	CHECK_EQ(line_votes_find(&v, 3, 9), 0);	 /* nothing is before */
	CHECK_EQ(line_votes_find(&v, 3, 21), 0); /* nothing is after */
	line_votes_done(&v);
}

static void functions_that_changed_places_match_nothing_between(void)
{
	struct line_votes v = { 0 };

	add(&v, 0, 10, 40, 1, 1);
	add(&v, 0, 20, 30, 1, 1);
	line_votes_count(&v);
	CHECK_EQ(line_votes_find(&v, 0, 15), 0);
	CHECK_EQ(line_votes_find(&v, 0, 20), 30);
	line_votes_done(&v);
}

TESTS(T(most_of_the_code_decides), T(a_line_that_is_a_small_part_of_another_is_not_it),
      T(lines_between_are_matched_where_nothing_was_inserted),
      T(functions_that_changed_places_match_nothing_between))
