/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history_past.h"
#include "page_functions.h"

#include "history/internal/part.h"
#include "history/history_copy.h"
#include "history/history_kind.h"
#include "history/levels.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static void sums_stay_exact_while_levels_change(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour;

	for (hour = 0; hour < 24 * 8 + 8; hour++) {
		write_hour(&p, 15 * MINUTE);
		(void)upkeep(&p, 0);
		if (hour % 12 == 5)
			check_sums(&p);
	}
	check_sums(&p);
	CHECK_EQ(files_of(&p, "", ".slices"), 2);
	CHECK_EQ(files_of(&p, "flat.1.", ""), 25);
	CHECK_EQ(files_of(&p, "flat.2.", ""), 8);
	CHECK_EQ(files_of(&p, "flat.3.", ""), 1);
	CHECK_EQ(files_of(&p, "roll", ""), 0);
}

static void a_window_has_the_finest_level_there_is(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(history_freep) struct history *old = NULL, *fresh = NULL, *all = NULL;
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour;

	for (hour = 0; hour < 50; hour++) {
		write_hour(&p, MINUTE);
		(void)upkeep(&p, 0);
	}
	/* Two days ago there are slices of ten minutes: two of them meet the window. */
	old = read_window(&p, BEGIN_MS + 8 * MINUTE, BEGIN_MS + 13 * MINUTE);
	CHECK_EQ(history_covers(old)->slices, 2);
	CHECK_EQ(history_covers(old)->by_level[2], 2);
	CHECK_EQ(history_covers(old)->samples, 200);
	CHECK_EQ(history_covers(old)->span.begin_ms, BEGIN_MS);
	CHECK_EQ(history_covers(old)->span.end_ms, BEGIN_MS + 19 * MINUTE + 10 * SECOND);
	/* Of each minute, ten seconds are covered. */
	CHECK_EQ(history_covers(old)->gaps_ms, 19 * 50 * SECOND);
	fresh = read_window(&p, p.now_ms - 13 * MINUTE, p.now_ms - 10 * MINUTE);
	CHECK_EQ(history_covers(fresh)->by_level[0], 3);
	CHECK_EQ(history_covers(fresh)->slices, 3);
	all = read_window(&p, INT64_MIN, INT64_MAX);
	CHECK_EQ(history_covers(all)->samples, 50 * 60 * 10);
	CHECK_EQ(history_covers(all)->taken, 50 * 60 * 5);
	CHECK_EQ(history_covers(all)->cpu_ms, 50 * 60 * 20);
	CHECK_EQ(history_covers(all)->gaps_ms, (50 * 60 - 1) * 50 * SECOND);
}

/* A window of eight days or more takes the days in it as wholes, also one whose hours are still
 * there; what is left of it, from finer levels. */
static void a_long_window_has_whole_days(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(history_freep) struct history *all = NULL, *day = NULL;
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour;

	for (hour = 0; hour < 9 * 24 + 3; hour++)
		write_hour(&p, 20 * MINUTE);
	CHECK(upkeep(&p, 0) > 0);
	all = read_window(&p, BEGIN_MS + HOUR, p.now_ms);
	CHECK_EQ(history_covers(all)->by_level[2], 9 * 72 - 3);
	CHECK_EQ(history_covers(all)->by_level[1] + history_covers(all)->by_level[0], 9);
	CHECK_EQ(history_covers(all)->samples, 10 * (9 * 72 - 3 + 9));
	day = read_window(&p, BEGIN_MS + 8 * DAY, BEGIN_MS + 9 * DAY);
	CHECK(history_covers(day)->by_level[1] >= 60);
	check_sums(&p);
}

/* Steps of whole hours are read from the level of hours, with the same sums, also if the window
 * ends in the middle of one; steps of a minute, or from half past on, are not. */
static void steps_have_the_coarsest_level_that_fits(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	const struct {
		int64_t length_ms, before_ms, left_ms;
		bool by_hours;
	} rows[] = {
		{ HOUR, 0, 0, true },
		{ HOUR, 0, 5 * MINUTE + 3 * SECOND, true },
		{ HOUR, 30 * MINUTE, 0, false },
		{ MINUTE, 0, 0, false },
	};
	size_t i, k, hour;

	for (hour = 0; hour < 9 * 24; hour++)
		write_hour(&p, 20 * MINUTE);
	CHECK(upkeep(&p, 0) > 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const int64_t begin_ms = BEGIN_MS - rows[i].before_ms;
		const int64_t end_ms = rows[i].left_ms ? p.now_ms - rows[i].left_ms : INT64_MAX;
		const uint32_t count = (p.now_ms - begin_ms) / rows[i].length_ms + 1;
		const struct steps steps = { begin_ms, rows[i].length_ms, count };
		const struct window all = { INT64_MIN, end_ms };
		_cleanup_(history_freep) struct history *h = NULL;

		CHECK_EQ(history_read(p.dir, &all, &steps, &h, NULL), 0);
		CHECK((history_covers(h)->by_level[3] > 0) == rows[i].by_hours);
		CHECK_EQ(history_covers(h)->samples, UINT64_C(10) * 3 * 9 * 24);
		for (k = 0; k < PROGRAMS; k++) {
			_cleanup_free_ char *path = xasprintf("/usr/bin/%zu", k);

			CHECK_EQ(counted(h, path, NULL), p.counted[k]);
		}
	}
}

/* An hour, in two generations if @twice. */
static void write_first_hour(struct past *p, bool twice)
{
	write_hour(p, 10 * MINUTE);
	if (twice) {
		p->now_ms -= HOUR;
		write_hour(p, 10 * MINUTE);
	}
	CHECK(upkeep(p, 0) > 0);
}

/* Segments of one level are read at the same time. If two have the same generation, it counts
 * once. */
static void segments_that_overlap_count_once(void)
{
	_cleanup_directory_ char *dir = test_directory(), *other = test_directory();
	_cleanup_free_ char *from = xasprintf("%s/history/flat.1.1-2", other);
	_cleanup_free_ char *to = xasprintf("%s/history/flat.1.1-2", dir);
	_cleanup_free_ char *slices = xasprintf("%s/history/1.slices", dir);
	struct past one = { .dir = dir, .now_ms = BEGIN_MS };
	struct past two = { .dir = other, .now_ms = BEGIN_MS };
	_cleanup_(history_freep) struct history *h = NULL;
	unsigned int i;

	write_first_hour(&one, false);
	write_first_hour(&two, true);
	CHECK_EQ(files_of(&one, "flat.1.1-1", ""), 1);
	CHECK_EQ(rename(from, to), 0);
	CHECK_EQ(unlink(slices), 0);
	h = read_window(&one, INT64_MIN, INT64_MAX);
	for (i = 0; i < PROGRAMS; i++) {
		_cleanup_free_ char *path = xasprintf("/usr/bin/%u", i);

		CHECK_EQ(counted(h, path, NULL), two.counted[i]);
	}
	CHECK_EQ(history_covers(h)->by_level[1], 12);
}

/* The clock is set back by hours, twice. */
static void a_clock_that_is_set_back_loses_nothing(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour;

	for (hour = 0; hour < 100; hour++) {
		write_hour(&p, 10 * MINUTE);
		if (hour == 30 || hour == 60)
			p.now_ms -= 5 * HOUR;
		(void)upkeep(&p, 0);
		if (hour >= 30)
			check_sums(&p);
	}
}

/* An hour of slices of ten seconds crosses the full hours. */
static void a_window_of_full_hours_has_their_slices_only(void)
{
	struct segment_slice hour = { .slice.span = { 9 * HOUR + 4000, 10 * HOUR + 9000 } },
			     fine = { .slice.span = { 10 * HOUR - 9000, 10 * HOUR + 1000 } };
	struct window w = { 10 * HOUR, 11 * HOUR };
	const struct part_wanted wanted = { .window = &w };

	CHECK(!part_wants(&wanted, &hour));
	CHECK(part_wants(&wanted, &fine));
	w = (struct window){ 9 * HOUR, 10 * HOUR };
	CHECK(part_wants(&wanted, &hour));
	w = (struct window){ 10 * HOUR - MINUTE, 10 * HOUR + MINUTE };
	CHECK(part_wants(&wanted, &hour));
	w = (struct window){ 10 * HOUR + 2000, 10 * HOUR + 5000 };
	CHECK(part_wants(&wanted, &hour));
	w = (struct window){ INT64_MIN, 9 * HOUR + 30 * MINUTE };
	CHECK(part_wants(&wanted, &hour));
	w = (struct window){ INT64_MIN, 9 * HOUR + 10000 };
	CHECK(!part_wants(&wanted, &hour));
}

static void the_oldest_of_the_finest_go_first(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	struct upkeep how = { .bytes_max = 1 };
	unsigned int hour, fine;

	for (hour = 0; hour < 72; hour++) {
		write_hour(&p, 10 * MINUTE);
		(void)upkeep(&p, 0);
	}
	p.now_ms += HOUR;
	CHECK_EQ(upkeep(&p, 0), 0);
	fine = files_of(&p, "flat.1.", "");
	CHECK(fine >= 24);
	how.now_ms = p.now_ms;
	how.live = p.generation + 1;
	how.bytes_max = bytes_of(&p) - 1;
	(void)history_upkeep(p.dir, &how, &log);
	CHECK(strstr(strbuf_text(&log), "--max-history") != NULL);
	CHECK_EQ(files_of(&p, "", ".slices"), 0);
	CHECK_EQ(files_of(&p, "flat.1.", ""), fine);
	how.bytes_max = bytes_of(&p) - 1;
	(void)history_upkeep(p.dir, &how, &log);
	CHECK_EQ(files_of(&p, "flat.1.", ""), fine - 1);
	CHECK_EQ(files_of(&p, "flat.2.", ""), 3);
	check_sums(&p);
	how.bytes_max = 1;
	(void)history_upkeep(p.dir, &how, &log);
	CHECK_EQ(files_of(&p, "", ".slices"), 0);
	CHECK_EQ(files_of(&p, "flat.", ""), 0);
	/* The live one stays. */
	write_hour(&p, 10 * MINUTE);
	how.live = p.generation;
	(void)history_upkeep(p.dir, &how, &log);
	CHECK_EQ(files_of(&p, "", ".slices"), 1);
}

/* A program with a hot place, and functions whose places are all rare, the first one not as a
 * whole: a segment keeps what has 100 samples. */
static void write_rare_places(struct past *p)
{
	_cleanup_(history_writer_freep) struct history_writer *h = history_writer_new(p->dir);
	struct history_name name = name_of("/usr/bin/hot");
	struct slice slice = { { p->now_ms, p->now_ms + 10 * SECOND } };
	uint32_t file = history_writer_file(h, &name);
	unsigned int i;

	history_writer_count(h, file, 0x100, 100000000);
	for (i = 0; i < 100; i++)
		history_writer_count(h, file, 0x1000 + i, 2);
	for (i = 0; i < 10; i++)
		history_writer_count(h, file, 0x5000 + i, 1);
	CHECK_EQ(history_writer_end(h, &slice, NULL), 0);
	p->generation = history_writer_generation(h);
	end_hour(p);
}

/* Checks how many samples the first function has, and how many are rare. */
static void check_places(const char *dir, uint64_t of_function, uint64_t rare)
{
	_cleanup_(history_freep) struct history *h = NULL;

	CHECK_EQ(history_read(dir, &WINDOW_ALL, NULL, &h, NULL), 0);
	CHECK_EQ(counted(h, "/usr/bin/hot", &(uint64_t){ HISTORY_FUNCTION | 0x1000 }), of_function);
	CHECK_EQ(counted(h, "/usr/bin/hot", &(uint64_t){ HISTORY_RARE }), rare);
	CHECK_EQ(counted(h, "/usr/bin/hot", NULL), 100000210);
	CHECK_EQ(history_covers(h)->functions, of_function);
	CHECK_EQ(history_covers(h)->folded, rare);
}

static bool any_file(const struct sname *name _unused_, void *data _unused_)
{
	return true;
}

static void rare_places_are_folded_into_functions(void)
{
	_cleanup_directory_ char *dir = test_directory(), *to = test_directory();
	const struct history_copying all = { &WINDOW_ALL, any_file, NULL };
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	struct upkeep how = { .live = UINT32_MAX, .functions = &page_functions };
	size_t damaged;
	unsigned int level;

	write_rare_places(&p);
	check_places(dir, 0, 0);
	/* In a segment of a minute, and in one of ten that is made of it. */
	for (level = 1; level <= 2; level++) {
		how.now_ms = p.now_ms + (level == 1 ? 2 * HOUR : 3 * DAY);
		CHECK(history_upkeep(p.dir, &how, &log) > 0);
		check_places(dir, 200, 10);
	}
	CHECK_EQ(files_of(&p, "flat.2.", ""), 1);
	CHECK_EQ(history_copy(dir, &all, to, &damaged, NULL), 0);
	check_places(to, 200, 10);
}

static void old_files_are_deleted(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	_cleanup_(history_freep) struct history *h = NULL;
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	struct upkeep how = { .keep_ms = 2 * DAY };
	unsigned int hour;

	for (hour = 0; hour < 24 * 5; hour++) {
		write_hour(&p, 10 * MINUTE);
		how.now_ms = p.now_ms;
		how.live = p.generation + 1;
		(void)history_upkeep(p.dir, &how, &log);
	}
	h = read_window(&p, INT64_MIN, INT64_MAX);
	CHECK(history_covers(h)->span.begin_ms >= p.now_ms - 4 * DAY);
	CHECK(history_covers(h)->span.begin_ms <= p.now_ms - 2 * DAY);
}

TESTS(T(sums_stay_exact_while_levels_change), T(a_window_has_the_finest_level_there_is),
      T(a_long_window_has_whole_days), T(steps_have_the_coarsest_level_that_fits),
      T(segments_that_overlap_count_once), T(a_clock_that_is_set_back_loses_nothing),
      T(rare_places_are_folded_into_functions), T(a_window_of_full_hours_has_their_slices_only),
      T(the_oldest_of_the_finest_go_first), T(old_files_are_deleted))
