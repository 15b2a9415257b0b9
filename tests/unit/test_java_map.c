/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/clock.h"
#include "jit/attacher.h"
#include "record/code/java_map.h"

#include <errno.h>

static const uint64_t start = 1000 * NS_PER_S, first_wait = NS_PER_S / 4;

/* Asks at @now; the answer is @code, and then @count pieces of code are known. */
static void ask(struct java_map *map, uint64_t now, int code, size_t count)
{
	const struct attacher_answer answer = { .tgid = 7, .code = code };

	java_map_ask(map, now, map->count);
	CHECK(!java_map_is_due(map, now + 3600 * NS_PER_S));
	(void)java_map_note(map, &answer);
	java_map_read(map, count);
	map->count = count;
}

/* How long after @now it may be asked again, when code is missed all the time; 0: never. */
static uint64_t wait_after(struct java_map *map, uint64_t now)
{
	uint64_t ns = 0, step = NS_PER_S / 100;

	java_map_miss(map, now + 1);
	while (ns < 100 * NS_PER_S && !java_map_is_due(map, now + ns))
		ns += step;
	return ns < 100 * NS_PER_S ? ns : 0;
}

static void it_is_asked_for_what_was_missed_since(void)
{
	struct java_map map = { 0 };

	CHECK(!java_map_is_due(&map, start));
	java_map_miss(&map, start);
	CHECK(java_map_is_due(&map, start));
	ask(&map, start, 0, 10);
	CHECK(!java_map_is_due(&map, start + 3600 * NS_PER_S));
	java_map_miss(&map, start - 1);
	CHECK(!java_map_is_due(&map, start + 3600 * NS_PER_S));
	CHECK_EQ(wait_after(&map, start), first_wait);
}

/* A question costs some microseconds a piece: 1 % of the time at most, or one in eight seconds. */
static void the_wait_grows_with_the_code(void)
{
	static const struct {
		size_t count;
		uint64_t wait_ns;
	} rows[] = {
		{ 100, NS_PER_S / 4 },
		{ 5000, NS_PER_S },
		{ 20000, 4 * NS_PER_S },
		{ 1000000, 8 * NS_PER_S },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct java_map map = { 0 };

		java_map_miss(&map, start);
		ask(&map, start, 0, rows[i].count);
		CHECK_EQ(wait_after(&map, start), rows[i].wait_ns);
		java_map_hurry(&map);
		CHECK_EQ(wait_after(&map, start), first_wait);
	}
}

static void the_wait_grows_while_maps_have_nothing_new(void)
{
	struct java_map map = { 0 };
	uint64_t now = start, wait = 0, before;
	unsigned int i;

	java_map_miss(&map, now);
	ask(&map, now, 0, 10);
	for (i = 0; i < 10; i++) {
		before = wait;
		wait = wait_after(&map, now);
		CHECK(wait > before || wait == 30 * NS_PER_S);
		now += wait;
		ask(&map, now, 0, 10);
	}
	CHECK_EQ(wait, 30 * NS_PER_S);
	CHECK_EQ(wait_after(&map, now), 30 * NS_PER_S);
	now += wait;
	ask(&map, now, 0, 11);
	CHECK_EQ(wait_after(&map, now), first_wait);
}

/* Answers, how often it is asked then, and how many of them are no refusals. */
static void who_cannot_answer_is_let_alone(void)
{
	enum { ALWAYS = 20 };
	static const struct {
		int code;
		unsigned int attempts, forgiven;
	} rows[] = {
		{ -ENOEXEC, 1, 1 },	    { -ENOSYS, 1, 0 },	   { -EPERM, 1, 0 },
		{ -EACCES, 1, 0 },	    { -ETIME, 3, 1 },	   { -EBADMSG, 3, 1 },
		{ -EOPNOTSUPP, 3, 0 },	    { -EBUSY, ALWAYS, 0 }, { -EAGAIN, ALWAYS, ALWAYS },
		{ -ESRCH, ALWAYS, ALWAYS },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct attacher_answer answer = { .tgid = 7, .code = rows[i].code };
		struct java_map map = { 0 };
		uint64_t now = start;
		unsigned int asked = 0;

		java_map_miss(&map, now);
		while (asked < ALWAYS && java_map_is_due(&map, now)) {
			java_map_ask(&map, now, 0);
			CHECK_EQ(java_map_note(&map, &answer), asked >= rows[i].forgiven);
			asked++;
			now += 60 * NS_PER_S;
		}
		CHECK_EQ(asked, rows[i].attempts);
	}
}

static void one_that_has_just_begun_is_asked_again_soon(void)
{
	struct java_map map = { 0 };
	unsigned int i;

	java_map_miss(&map, start);
	for (i = 0; i < 20; i++)
		ask(&map, start + i * NS_PER_S, -EAGAIN, 0);
	CHECK_EQ(wait_after(&map, start + 19 * NS_PER_S), first_wait);
}

TESTS(T(it_is_asked_for_what_was_missed_since), T(the_wait_grows_with_the_code),
      T(the_wait_grows_while_maps_have_nothing_new), T(who_cannot_answer_is_let_alone),
      T(one_that_has_just_begun_is_asked_again_soon))
