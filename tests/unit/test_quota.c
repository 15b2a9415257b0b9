/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "collect/quota.h"

enum { MB = 1 << 20 };
static const uint64_t second = 1000000000;
static const unsigned int all_useful = 1 << QUOTA_CHAINS | 1 << QUOTA_JIT | 1 << QUOTA_THREADS;
static const struct quota_limits limits = {
	.memory = 100 * MB, .disk = 1000 * MB, .keep_free = 50 * MB, .files = 200
};
static const struct quota_use easy = {
	.memory = 20 * MB, .disk = 300 * MB, .free = 5000 * (uint64_t)MB, .files = 60
};

static void with_room_nothing_is_left_out(void)
{
	_cleanup_(quota_freep) struct quota *q = quota_new(&limits, "/nowhere", NULL);
	uint64_t t;

	for (t = 1; t < 100; t++)
		CHECK_EQ(quota_step(q, &easy, t * second, all_useful), QUOTA_EASY);
}

static void things_are_left_out_one_after_the_other(void)
{
	static const enum quota_level levels[] = { QUOTA_EASY,	  QUOTA_EASY,	 QUOTA_EASY,
						   QUOTA_CHAINS,  QUOTA_CHAINS,	 QUOTA_CHAINS,
						   QUOTA_JIT,	  QUOTA_JIT,	 QUOTA_JIT,
						   QUOTA_THREADS, QUOTA_THREADS, QUOTA_THREADS,
						   QUOTA_THREADS, QUOTA_THREADS };
	_cleanup_(quota_freep) struct quota *q = quota_new(&limits, "/nowhere", NULL);
	struct quota_use use = easy;
	struct quota_reading reading;
	size_t i;

	use.memory = 93 * MB;
	for (i = 0; i < ARRAY_SIZE(levels); i++)
		CHECK_EQ(quota_step(q, &use, (i + 1) * second, all_useful), levels[i]);
	quota_read(q, &reading);
	CHECK_STR(reading.what, "memory");
	CHECK_STR(quota_level_name(reading.level), "threads");
	/* What was left out stays so for some time. */
	CHECK_EQ(quota_step(q, &easy, 60 * second, all_useful), QUOTA_THREADS);
	quota_reset(q);
	CHECK_EQ(quota_step(q, &easy, 61 * second, all_useful), QUOTA_EASY);
}

/* The time until the level changes while @use lasts, in seconds; *@t goes on. */
static uint64_t time_to_change(struct quota *q, const struct quota_use *use, uint64_t *t)
{
	uint64_t since = *t;
	enum quota_level was = quota_step(q, use, ++*t * second, all_useful), is = was;

	while (is == was && *t - since < 10000)
		is = quota_step(q, use, ++*t * second, all_useful);
	return *t - since;
}

/* What is kept only for speed is freed first, which may be enough. */
static void nothing_is_left_out_while_relief_is_enough(void)
{
	_cleanup_(quota_freep) struct quota *q = quota_new(&limits, "/nowhere", NULL);
	struct quota_use full = easy;
	uint64_t t = 1;
	int i;

	full.memory = 93 * MB;
	for (i = 0; i < 10; i++, t += 60) {
		CHECK_EQ(quota_step(q, &full, t * second, all_useful), QUOTA_EASY);
		CHECK_EQ(quota_step(q, &full, (t + 2) * second, all_useful), QUOTA_EASY);
		CHECK_EQ(quota_step(q, &easy, (t + 3) * second, all_useful), QUOTA_EASY);
	}
	/* If it is needed more often, it is not. */
	CHECK_EQ(quota_step(q, &full, (t - 50) * second, all_useful), QUOTA_CHAINS);
	/* It frees no disk space. */
	quota_reset(q);
	full = easy;
	full.disk = 930 * MB;
	CHECK_EQ(quota_step(q, &full, (t + 500) * second, all_useful), QUOTA_CHAINS);
}

static void with_ample_room_levels_are_undone_one_by_one(void)
{
	_cleanup_(quota_freep) struct quota *q = quota_new(&limits, "/nowhere", NULL);
	struct quota_use use = easy, full = easy;
	enum quota_level level;
	uint64_t t, first;

	full.memory = 99 * MB;
	CHECK_EQ(quota_step(q, &full, second, all_useful), QUOTA_PAUSED);
	/* Not room enough to resume. */
	use.memory = 88 * MB;
	CHECK_EQ(quota_step(q, &easy, 2 * second, all_useful), QUOTA_THREADS);
	for (t = 3; t < 5000; t++)
		CHECK_EQ(quota_step(q, &use, t * second, all_useful), QUOTA_THREADS);
	for (level = QUOTA_THREADS; level-- > QUOTA_EASY;) {
		first = time_to_change(q, &easy, &t);
		CHECK(first >= 55 && first < 70);
		CHECK_EQ(quota_step(q, &easy, ++t * second, all_useful), level);
	}
	CHECK_EQ(time_to_change(q, &easy, &t), 10000);
}

/* Some machines never have ample room. */
static void with_room_that_is_not_ample_levels_are_undone_later(void)
{
	_cleanup_(quota_freep) struct quota *q = quota_new(&limits, "/nowhere", NULL);
	struct quota_use use = easy, full = easy;
	uint64_t t = 2, first, second_time;

	full.memory = 93 * MB;
	use.memory = 84 * MB;
	(void)time_to_change(q, &full, &t);
	first = time_to_change(q, &use, &t);
	CHECK(first >= 595 && first < 610);
	CHECK_EQ(quota_step(q, &use, ++t * second, all_useful), QUOTA_EASY);
	/* If it was too early, it takes longer the next time. */
	t += 100;
	(void)time_to_change(q, &full, &t);
	second_time = time_to_change(q, &use, &t);
	CHECK(second_time > 3 * first / 2 && second_time < 3 * first);
}

static void what_must_be_shed_again_is_undone_later(void)
{
	_cleanup_(quota_freep) struct quota *q = quota_new(&limits, "/nowhere", NULL);
	struct quota_use full = easy;
	uint64_t t = 1, waited, before = 0;
	int i;

	full.memory = 93 * MB;
	(void)time_to_change(q, &full, &t);
	for (i = 0; i < 4; i++) {
		waited = time_to_change(q, &easy, &t);
		CHECK(waited > before * 3 / 2 && waited < 1000);
		before = waited;
		CHECK(time_to_change(q, &full, &t) < 10);
		CHECK_EQ(quota_step(q, &full, t * second, all_useful), QUOTA_CHAINS);
	}
	CHECK(before > 300);
	/* Long afterwards it is as at first. */
	(void)time_to_change(q, &easy, &t);
	CHECK_EQ(time_to_change(q, &easy, &t), 10000);
	CHECK(time_to_change(q, &full, &t) < 10);
	CHECK(time_to_change(q, &easy, &t) < 70);
}

static void a_peak_of_the_parser_does_not_count(void)
{
	_cleanup_(quota_freep) struct quota *q = quota_new(&limits, "/nowhere", NULL);
	uint64_t t = 100;

	CHECK_EQ(quota_parser_memory(q, 5 * MB, t * second), 5 * MB);
	for (; t < 104; t++)
		CHECK_EQ(quota_parser_memory(q, 120 * MB, t * second), 5 * MB);
	/* What lasts does. */
	for (; t < 120; t++)
		(void)quota_parser_memory(q, 120 * MB, t * second);
	CHECK_EQ(quota_parser_memory(q, 120 * MB, t * second), 120 * MB);
	CHECK_EQ(quota_parser_memory(q, 6 * MB, ++t * second), 6 * MB);
}

static void what_spares_nothing_is_passed_over(void)
{
	_cleanup_(quota_freep) struct quota *q = quota_new(&limits, "/nowhere", NULL);
	struct quota_use use = easy;

	use.disk = 950 * MB;
	CHECK_EQ(quota_step(q, &use, second, 1 << QUOTA_THREADS), QUOTA_THREADS);
	CHECK_EQ(quota_step(q, &use, 10 * second, 1 << QUOTA_THREADS), QUOTA_THREADS);
}

static void at_the_limit_sampling_pauses_until_there_is_room(void)
{
	static const struct {
		struct quota_use use;
		const char *what;
	} rows[] = {
		{ { 99 * MB, 0, UINT64_MAX, 0 }, "memory" },
		{ { 0, 985 * MB, UINT64_MAX, 0 }, "disk" },
		{ { 0, 0, 49 * MB, 0 }, "free disk space" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(quota_freep) struct quota *q = quota_new(&limits, "/nowhere", NULL);
		struct quota_use nearly = rows[i].use;
		struct quota_reading reading;

		CHECK_EQ(quota_step(q, &rows[i].use, second, all_useful), QUOTA_PAUSED);
		quota_read(q, &reading);
		CHECK_STR(reading.what, rows[i].what);
		/* A little room is not enough: it would be used up at once. */
		nearly.memory -= MIN(nearly.memory, (uint64_t)2 * MB);
		nearly.disk -= MIN(nearly.disk, (uint64_t)20 * MB);
		nearly.free = MIN(nearly.free, (uint64_t)60 * MB);
		CHECK_EQ(quota_step(q, &nearly, 2 * second, all_useful), QUOTA_PAUSED);
		quota_reset(q);
		CHECK_EQ(quota_step(q, &nearly, 3 * second, all_useful), QUOTA_PAUSED);
		CHECK_EQ(quota_step(q, &easy, 4 * second, all_useful), QUOTA_EASY);
	}
}

static void inodes_run_short_like_space(void)
{
	_cleanup_(quota_freep) struct quota *q = quota_new(&limits, "/nowhere", NULL);
	struct quota_use use = easy;
	struct quota_reading reading;

	use.inodes = 1000000;
	use.inodes_free = 100000;
	CHECK_EQ(quota_step(q, &use, second, all_useful), QUOTA_EASY);
	use.inodes_free = 19000;
	CHECK_EQ(quota_step(q, &use, 2 * second, all_useful), QUOTA_PAUSED);
	quota_read(q, &reading);
	CHECK_STR(reading.what, "free inodes");
	use.inodes_free = 100000;
	CHECK(quota_step(q, &use, 3 * second, all_useful) != QUOTA_PAUSED);
}

static void after_a_pause_it_goes_on_with_less(void)
{
	_cleanup_(quota_freep) struct quota *q = quota_new(&limits, "/nowhere", NULL);
	struct quota_use full = easy;

	full.disk = 999 * MB;
	CHECK_EQ(quota_step(q, &full, second, all_useful), QUOTA_PAUSED);
	CHECK_EQ(quota_step(q, &easy, 2 * second, all_useful), QUOTA_THREADS);
}

/* The seconds until a pause ends; the first one is at *@t. */
static uint64_t pause_length(struct quota *q, const struct quota_use *full,
			     const struct quota_use *after, uint64_t *t)
{
	uint64_t begin = ++*t;

	CHECK_EQ(quota_step(q, full, begin * second, all_useful), QUOTA_PAUSED);
	while (quota_step(q, after, ++*t * second, all_useful) == QUOTA_PAUSED && *t < begin + 9999)
		;
	return *t - begin;
}

static void a_pause_that_frees_too_little_ends_too(void)
{
	_cleanup_(quota_freep) struct quota *q = quota_new(&limits, "/nowhere", NULL);
	struct quota_use full = easy, nearly = easy;
	uint64_t t = 100, first, next, last;

	full.memory = 99 * MB;
	nearly.memory = 94 * MB;
	first = pause_length(q, &full, &nearly, &t);
	next = pause_length(q, &full, &nearly, &t);
	last = pause_length(q, &full, &nearly, &t);
	CHECK(first >= 60 && first < 70);
	CHECK(next > first && last > next);
	/* At the limit itself it lasts. */
	CHECK(pause_length(q, &full, &full, &t) >= 9999);
	CHECK(quota_step(q, &easy, ++t * second, all_useful) != QUOTA_PAUSED);
}

static void few_descriptors_are_no_reason_to_pause(void)
{
	_cleanup_(quota_freep) struct quota *q = quota_new(&limits, "/nowhere", NULL);
	struct quota_use use = easy;
	uint64_t t;

	use.files = 200;
	for (t = 1; t < 30; t++)
		CHECK(quota_step(q, &use, t * second, all_useful) != QUOTA_PAUSED);
}

static void without_limits_nothing_matters(void)
{
	static const struct quota_limits none = { 0 };
	static const struct quota_use use = { UINT64_MAX / 2, UINT64_MAX / 2, 0, UINT64_MAX / 2 };
	_cleanup_(quota_freep) struct quota *q = quota_new(&none, "/nowhere", NULL);

	CHECK_EQ(quota_step(q, &use, second, all_useful), QUOTA_EASY);
}

/* A session of many files takes long to walk through. */
static void it_walks_often_only_where_disk_space_may_run_short(void)
{
	_cleanup_(quota_freep) struct quota *q = quota_new(&limits, "/nowhere", NULL);
	struct quota_use use = easy;
	unsigned int rarely, soon, now;

	(void)quota_step(q, &use, second, 0);
	rarely = quota_walk_share(q, use.free, use.free);
	CHECK_EQ(quota_walk_share(q, use.free, use.free + 100 * MB), rarely);
	CHECK_EQ(quota_walk_share(q, use.free, use.free - 10 * MB), rarely);
	soon = quota_walk_share(q, use.free, use.free - 200 * MB);
	CHECK(soon < rarely);
	use.memory = 80 * MB;
	use.files = 150;
	(void)quota_step(q, &use, 2 * second, 0);
	CHECK_EQ(quota_walk_share(q, use.free, use.free), rarely);
	use.disk = 700 * MB;
	(void)quota_step(q, &use, 3 * second, 0);
	CHECK_EQ(quota_walk_share(q, use.free, use.free), soon);
	now = quota_walk_share(q, use.free, use.free - 100 * MB);
	CHECK(now < soon);
	use = easy;
	use.free = 80 * MB;
	(void)quota_step(q, &use, 4 * second, 0);
	CHECK_EQ(quota_walk_share(q, use.free, use.free), soon);
}

/* Memory may stay short when all is shed that can be. */
static void free_memory_is_given_back_seldom_while_nothing_is_shed(void)
{
	_cleanup_(quota_freep) struct quota *q = quota_new(&limits, "/", NULL);
	unsigned int i, trims = 0;

	for (i = 1; i <= 600; i += 3)
		trims += quota_trims(q, false, i * second);
	CHECK_EQ(trims, 10);
	CHECK(quota_trims(q, true, i * second));
	CHECK(!quota_trims(q, false, (i + 59) * second));
	CHECK(quota_trims(q, false, (i + 60) * second));
}

TESTS(T(it_walks_often_only_where_disk_space_may_run_short),
      T(free_memory_is_given_back_seldom_while_nothing_is_shed), T(with_room_nothing_is_left_out),
      T(things_are_left_out_one_after_the_other), T(what_spares_nothing_is_passed_over),
      T(at_the_limit_sampling_pauses_until_there_is_room), T(inodes_run_short_like_space),
      T(after_a_pause_it_goes_on_with_less), T(a_pause_that_frees_too_little_ends_too),
      T(few_descriptors_are_no_reason_to_pause), T(without_limits_nothing_matters),
      T(with_ample_room_levels_are_undone_one_by_one), T(what_must_be_shed_again_is_undone_later),
      T(nothing_is_left_out_while_relief_is_enough),
      T(with_room_that_is_not_ample_levels_are_undone_later),
      T(a_peak_of_the_parser_does_not_count))
