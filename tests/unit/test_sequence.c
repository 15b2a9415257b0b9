/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What two sequences have in common. */
#include "test.h"

#include "base/mem.h"
#include "base/sequence.h"

#include <stdlib.h>
#include <string.h>

static struct sequence sequence_of(const char *text)
{
	size_t n = strlen(text), i;
	uint64_t *elements = xcalloc(n + 1, sizeof(*elements));

	for (i = 0; i < n; i++)
		elements[i] = (unsigned char)text[i];
	return (struct sequence){ elements, n };
}

/* The elements of @a that are in both, "." for others; checks that partners are equal and in
 * order. */
static char *matched(const char *a, const char *b)
{
	struct sequence first = sequence_of(a), second = sequence_of(b);
	uint32_t *partners = sequence_match(first, second), last = SEQUENCE_NONE;
	char *text = xstrdup(a);
	size_t i;

	for (i = 0; i < first.count; i++) {
		if (partners[i] == SEQUENCE_NONE) {
			text[i] = '.';
			continue;
		}
		CHECK(partners[i] < second.count);
		CHECK_EQ(second.elements[partners[i]], first.elements[i]);
		CHECK(last == SEQUENCE_NONE || partners[i] > last);
		last = partners[i];
	}
	free(partners);
	free((void *)first.elements);
	free((void *)second.elements);
	return text;
}

static void the_longest_sequence_is_found(void)
{
	static const struct {
		const char *a, *b, *both;
	} cases[] = {
		{ "", "", "" },
		{ "", "abc", "" },
		{ "abc", "", "..." },
		{ "abc", "abc", "abc" },
		{ "abc", "xyz", "..." },
		{ "abcd", "abXcd", "abcd" },
		{ "abXcd", "abcd", "ab.cd" },
		{ "aXb", "aYb", "a.b" },
		{ "aaab", "ab", "a..b" },
		{ "ab", "aaab", "ab" },
		{ "abcabba", "cbabac", NULL }, /* Myers' own: four of them */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *both = matched(cases[i].a, cases[i].b);
		size_t n = 0;

		if (cases[i].both) {
			CHECK_STR(both, cases[i].both);
			continue;
		}
		for (const char *c = both; *c; c++)
			n += *c != '.';
		CHECK_EQ(n, 4);
	}
}

/* The length of the longest common sequence by the table of all parts. */
static size_t longest(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), i, j;
	size_t table[64][64] = { 0 };

	for (i = 1; i <= n; i++)
		for (j = 1; j <= m; j++)
			table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1
							   : MAX(table[i - 1][j], table[i][j - 1]);
	return table[n][m];
}

static void it_is_as_long_as_any(void)
{
	unsigned int seed = 7, round, i;

	for (round = 0; round < 300; round++) {
		char a[40], b[40];
		_cleanup_free_ char *both = NULL;
		size_t n = 0;

		for (i = 0; i < sizeof(a); i++) {
			a[i] = (char)('a' + (seed = seed * 1103515245 + 12345) / 65536 % 4);
			b[i] = (char)('a' + (seed = seed * 1103515245 + 12345) / 65536 % 4);
		}
		a[round % sizeof(a)] = '\0';
		b[round / 7 % sizeof(b)] = '\0';
		both = matched(a, b);
		for (const char *c = both; *c; c++)
			n += *c != '.';
		CHECK_EQ(n, longest(a, b));
	}
}

static void of_what_differs_everywhere_only_the_ends_are_matched(void)
{
	enum { COUNT = 20000 };
	uint64_t *a = xcalloc(COUNT, sizeof(*a)), *b = xcalloc(COUNT, sizeof(*b));
	uint32_t *partners;
	size_t i;

	for (i = 0; i < COUNT; i++) {
		bool is_end = i < 3 || i >= COUNT - 2;

		a[i] = is_end ? i : 2 * COUNT + i;
		b[i] = is_end ? i : 4 * COUNT + i;
	}
	partners = sequence_match((struct sequence){ a, COUNT }, (struct sequence){ b, COUNT });
	for (i = 0; i < COUNT; i++)
		CHECK_EQ(partners[i], i < 3 || i >= COUNT - 2 ? i : SEQUENCE_NONE);
	free(partners);
	free(a);
	free(b);
}

TESTS(T(the_longest_sequence_is_found), T(it_is_as_long_as_any),
      T(of_what_differs_everywhere_only_the_ends_are_matched))
