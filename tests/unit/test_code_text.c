/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/internal/code_text.h"

#include "base/macro.h"
#include "test.h"

/* Instructions of two builds, one after the other. */
struct pair {
	const char *first, *second;
	bool is_same;
};

static void compare(const struct pair *pairs, size_t count, bool is_aarch64)
{
	struct code_text a = { .is_aarch64 = is_aarch64 }, b = a;
	size_t i;

	for (i = 0; i < count; i++) {
		bool is_same =
			code_text_hash(&a, pairs[i].first) == code_text_hash(&b, pairs[i].second);

		if (is_same != pairs[i].is_same)
			printf("# %s\n", pairs[i].first);
		CHECK_EQ(is_same, pairs[i].is_same);
	}
}

static void displacements_from_the_program_counter_do_not_matter(void)
{
	static const struct pair pairs[] = {
		{ "mov    0x1fe2(%rip),%esi", "mov    0x20(%rip),%esi", true },
		{ "mov    0x1fe2(%rip),%esi", "mov    0x1fe2(%rip),%edi", false },
		{ "mov    0x8(%rax),%esi", "mov    0x10(%rax),%esi", false },
	};

	compare(pairs, ARRAY_SIZE(pairs), false);
}

static void offsets_in_pages_do_not_matter(void)
{
	static const struct pair pairs[] = {
		{ "ldr\tw1, [x0, #12]", "ldr\tw1, [x0, #16]", false },
		{ "adrp\tx0, <main>", "adrp\tx0, <>", true },
		{ "adrp\tx1, <main>", "adrp\tx2, <main>", false },
		{ "ldr\tw1, [x0, #12]", "ldr\tw1, [x0, #16]", true },
		{ "str\tw1, [x0, #12]", "str\tw1, [x0, #16]", true },
		{ "ldr\tw1, [x0, #12]", "ldr\tw3, [x0, #16]", false },
		{ "ldr\tw1, [x0]", "ldr\tw1, [x0, #16]", true },
		{ "ldr\tw1, [x0, x2]", "ldr\tw1, [x0, x3]", false },
		{ "add\tx4, x0, #0xa10", "add\tx4, x0, #0x20", true },
		{ "ldp\tx5, x6, [x0, #16]", "ldp\tx5, x6, [x0, #32]", true },
		/* A part of the address' structure. */
		{ "ldr\tw7, [x4, #8]", "ldr\tw7, [x4, #12]", false },
		{ "add\tx0, x0, #0xa10", "add\tx0, x0, #0x20", true },
		/* Now it is a whole address. */
		{ "ldr\tw1, [x0, #12]", "ldr\tw1, [x0, #16]", false },
		{ "add\tx0, x0, #0x1", "add\tx0, x0, #0x2", false },
		{ "ldr\tw1, [sp, #12]", "ldr\tw1, [sp, #16]", false },
	};

	compare(pairs, ARRAY_SIZE(pairs), true);
}

TESTS(T(displacements_from_the_program_counter_do_not_matter), T(offsets_in_pages_do_not_matter))
