/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/arena.h"

#include "test.h"

#include <stdint.h>
#include <string.h>

static void small_arenas_are_small(void)
{
	struct arena a = ARENA_INIT;

	CHECK(!strcmp(arena_strdup(&a, "a name"), "a name"));
	CHECK(a.bytes <= 1024);
	arena_done(&a);
	CHECK_EQ(a.bytes, 0);
}

static void large_arenas_have_few_blocks(void)
{
	enum { COUNT = 1 << 16, SIZE = 16 };
	struct arena a = ARENA_INIT;
	size_t blocks = 0, last = 0;

	for (int i = 0; i < COUNT; i++) {
		memset(arena_alloc(&a, SIZE), i, SIZE);
		blocks += a.bytes != last;
		last = a.bytes;
	}
	CHECK(blocks < 32);
	CHECK(a.bytes < COUNT * SIZE + (128 << 10));
	arena_done(&a);
}

static void what_is_larger_than_a_block_has_its_own(void)
{
	enum { LARGE = 1 << 20 };
	struct arena a = ARENA_INIT;
	char *small = arena_strdup(&a, "small"), *large = arena_alloc(&a, LARGE);

	memset(large, 1, LARGE);
	CHECK(!strcmp(small, "small"));
	CHECK_EQ((uintptr_t)large % sizeof(void *), 0);
	CHECK(a.bytes < LARGE + 4096);
	arena_done(&a);
}

static void memory_stays_when_arenas_are_joined(void)
{
	struct arena a = ARENA_INIT, b = ARENA_INIT;
	const char *one = arena_strdup(&a, "one"), *two = arena_strdup(&b, "two");
	size_t bytes = a.bytes + b.bytes;

	arena_join(&a, &b);
	CHECK(!strcmp(one, "one") && !strcmp(two, "two"));
	CHECK_EQ(a.bytes, bytes);
	CHECK_EQ(b.bytes, 0);
	arena_done(&b);
	arena_done(&a);
}

TESTS(T(small_arenas_are_small), T(large_arenas_have_few_blocks),
      T(what_is_larger_than_a_block_has_its_own), T(memory_stays_when_arenas_are_joined))
