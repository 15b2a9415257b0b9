/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jit/jit_inlined.h"

#include "base/strbuf.h"
#include "test.h"

enum { SIZE = 16 }; /* of the code */

/* Two calls, the second in the first; four rows. Names: "", "f" at 1, "a.c" at 3. */
static const uint32_t valid[] = { 2, 4, 0, 7, 3, 1, 1, 8, 0, 1, 0, 0, 2, 1, 4, 2, 15, 0 };
static const char names[] = "\0f\0a.c";

/* Parses @words of numbers, and the names without their last @less bytes. */
static bool reads(const uint32_t *words, size_t count, size_t less, struct jit_inlined *ret)
{
	static struct strbuf b;

	strbuf_clear(&b);
	strbuf_add(&b, (const char *)words, count * sizeof(*words));
	strbuf_add(&b, names, sizeof(names) - less);
	return jit_inlined_read(span_of(b.text, b.length), SIZE, ret);
}

static void calls_and_rows_are_read(void)
{
	struct jit_inlined in;

	if (!CHECK(reads(valid, ARRAY_SIZE(valid), 0, &in)))
		return;
	CHECK_EQ(in.call_count, 2);
	CHECK_EQ(in.calls[0].line, 7);
	CHECK_STR(in.calls[0].file, "a.c");
	CHECK_STR(in.calls[0].function, "f");
	CHECK_EQ(in.calls[0].depth, 1);
	CHECK_STR(in.calls[1].file, "");
	CHECK_EQ(in.calls[1].depth, 2);
	CHECK_EQ(in.row_count, 4);
	CHECK_EQ(in.rows[2].offset, 4);
	CHECK_EQ(jit_inlined_at(&in, 0, 1), 0);
	CHECK_EQ(jit_inlined_at(&in, 1, 1), 1);
	CHECK_EQ(jit_inlined_at(&in, 1, 2), 0);
	CHECK_EQ(jit_inlined_at(&in, 2, 1), 1);
	CHECK_EQ(jit_inlined_at(&in, 2, 2), 2);
	jit_inlined_done(&in);
}

static void what_makes_no_sense_is_refused(void)
{
	static const struct {
		size_t word;
		uint32_t value;
		const char *what;
	} wrong[] = {
		{ 0, UINT32_MAX, "as many calls as there can be" },
		{ 1, UINT32_MAX, "as many rows" },
		{ 0, 4, "names as calls" },
		{ 2, 1, "a call in itself" },
		{ 6, 2, "the second call in itself" },
		{ 4, 64, "a file that is outside" },
		{ 5, 64, "a function that is outside" },
		{ 11, 3, "a row of a call that does not exist" },
		{ 14, 2, "rows that do not rise" },
		{ 16, SIZE, "a row after the code" },
	};
	struct jit_inlined in;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		uint32_t words[ARRAY_SIZE(valid)];

		memcpy(words, valid, sizeof(valid));
		words[wrong[i].word] = wrong[i].value;
		if (!CHECK(!reads(words, ARRAY_SIZE(words), 0, &in)))
			printf("# %s\n", wrong[i].what);
		CHECK(!in.calls && !in.rows);
	}
	CHECK(!reads(valid, ARRAY_SIZE(valid), 1, &in)); /* the last name has no end */
	for (i = 0; i < ARRAY_SIZE(valid); i++)
		CHECK(!reads(valid, i, 0, &in));
	CHECK(!jit_inlined_read(span_of(names, 0), SIZE, &in));
}

/* Each call in the one before. */
static void calls_are_not_too_deep(void)
{
	static const size_t depths[] = { JIT_INLINED_DEPTH_MAX, JIT_INLINED_DEPTH_MAX + 1 };
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		uint32_t words[2 + 4 * (JIT_INLINED_DEPTH_MAX + 1)] = { (uint32_t)depths[i] };
		struct jit_inlined in;

		for (k = 0; k < depths[i]; k++)
			words[2 + 4 * k] = (uint32_t)k;
		CHECK_EQ(reads(words, 2 + 4 * depths[i], 0, &in), i == 0);
		jit_inlined_done(&in);
	}
}

TESTS(T(calls_and_rows_are_read), T(what_makes_no_sense_is_refused), T(calls_are_not_too_deep))
