/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "history/history.h"
#include "history/history_copy.h"
#include "history/history_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HOUR_MS = 3600 * 1000 };

/* "/usr/bin/NAME", sampled by TIMER. */
static struct history_name name_of(const char *path)
{
	struct history_name n = { .name = { .event = "TIMER", .task = SNAME_TASK_ALL },
				  .header = { .mtime = 7, .cpu_type = 4, .cpu_mhz = 2400 } };

	n.name.app = n.name.image = (struct sname_image){ .kind = SNAME_ROOT, .name = path };
	return n;
}

static void count(struct history_writer *h, const char *path, uint64_t key, uint64_t samples)
{
	struct history_name name = name_of(path);

	history_writer_count(h, history_writer_file(h, &name), key, samples);
}

static void end(struct history_writer *h, int64_t begin_ms, int64_t end_ms)
{
	struct slice s = { { begin_ms, end_ms }, .samples = 10, .taken = 5, .cpu_ms = 20 };

	CHECK_EQ(history_writer_end(h, &s, NULL), 0);
}

/* The count at @key of @path in the history; 0 if there is none. */
static uint64_t count_at(const struct history *h, const char *path, uint64_t key)
{
	size_t i, k;

	for (i = 0; i < history_files(h); i++) {
		const struct history_file *f = history_file_at(h, i);

		for (k = 0; k < f->count && !strcmp(f->name.image->name, path); k++)
			if (f->counts[k].key == key)
				return f->counts[k].count;
	}
	return 0;
}

static struct history *read_window(const char *dir, int64_t begin_ms, int64_t end_ms)
{
	struct history *h = NULL;

	CHECK_EQ(history_read(dir, &(struct window){ begin_ms, end_ms }, NULL, &h, NULL), 0);
	return h;
}

/* Three slices of ten seconds, the last one after a gap of five. */
static void write_three(const char *dir)
{
	_cleanup_(history_writer_freep) struct history_writer *h = history_writer_new(dir);

	count(h, "/usr/bin/a", 0x10, 3);
	count(h, "/usr/bin/a", 0x10, 1);
	count(h, "/usr/bin/b", UINT64_MAX, 2);
	end(h, 0, 10000);
	count(h, "/usr/bin/a", 0x10, 5);
	count(h, "/usr/bin/a", 0x8, 1);
	end(h, 10000, 20000);
	count(h, "/usr/bin/c", 0, UINT64_MAX);
	end(h, 25000, 35000);
}

static void a_window_has_the_slices_that_it_meets(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(history_freep) struct history *all = NULL, *second = NULL, *none = NULL;
	const struct history_cover *c;

	write_three(dir);
	all = read_window(dir, INT64_MIN, INT64_MAX);
	CHECK_EQ(count_at(all, "/usr/bin/a", 0x10), 9);
	CHECK_EQ(count_at(all, "/usr/bin/a", 0x8), 1);
	CHECK_EQ(count_at(all, "/usr/bin/b", UINT64_MAX), 2);
	CHECK_EQ(count_at(all, "/usr/bin/c", 0), UINT64_MAX);
	c = history_covers(all);
	CHECK_EQ(c->span.begin_ms, 0);
	CHECK_EQ(c->span.end_ms, 35000);
	CHECK_EQ(c->gaps_ms, 5000);
	CHECK_EQ(c->slices, 3);
	CHECK_EQ(c->samples, 30);
	CHECK_EQ(c->taken, 15);
	CHECK_EQ(c->cpu_ms, 60);
	CHECK_EQ(c->damaged, 0);
	second = read_window(dir, 15000, 15001);
	CHECK_EQ(count_at(second, "/usr/bin/a", 0x10), 5);
	CHECK_EQ(count_at(second, "/usr/bin/b", UINT64_MAX), 0);
	none = read_window(dir, 20000, 25000);
	CHECK_EQ(history_covers(none)->slices, 0);
}

static bool is_not_a(const struct sname *name, void *data)
{
	return strcmp(name->image.name, data) != 0;
}

static void counts_without_keys_are_added_up(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(history_freep) struct history *h = NULL;
	const struct history_wanted wanted = { .window = &WINDOW_ALL,
					       .wants_keys = is_not_a,
					       .data = (void *)"/usr/bin/a" };

	write_three(dir);
	CHECK_EQ(history_read_wanted(dir, &wanted, &h, NULL), 0);
	CHECK_EQ(count_at(h, "/usr/bin/a", 0), 10);
	CHECK_EQ(count_at(h, "/usr/bin/a", 0x10), 0);
	CHECK_EQ(count_at(h, "/usr/bin/b", UINT64_MAX), 2);
	CHECK_EQ(history_covers(h)->samples, 30);
}

/* Many programs with few samples are one file, a program with a symbol at the top is itself. */
static void programs_that_are_not_at_the_top_are_added_up(void)
{
	enum { PROGRAMS = 1200 };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(history_freep) struct history *h = NULL, *few = NULL;
	struct history_wanted wanted = { .window = &WINDOW_ALL, .top = 1 };
	struct history_writer *w = history_writer_new(dir);
	unsigned int i;

	count(w, "/usr/bin/a", 0x10, 5);
	count(w, "/usr/bin/a", 0x20, 1);
	for (i = 0; i < PROGRAMS; i++) {
		_cleanup_free_ char *path = xasprintf("/usr/bin/%u", i);

		count(w, path, 1, 2);
		count(w, path, 2, 2);
	}
	end(w, 0, 10000);
	history_writer_free(w);
	CHECK_EQ(history_read_wanted(dir, &wanted, &h, NULL), 0);
	CHECK_EQ(history_covers(h)->rest, PROGRAMS);
	CHECK_EQ(count_at(h, "/usr/bin/a", 0x20), 1);
	CHECK_EQ(count_at(h, "/usr/bin/7", 1), 0);
	CHECK_EQ(count_at(h, "/[rest]", 0), 4 * PROGRAMS);
	/* A second program at the top has as few samples as each. */
	wanted.top = 2;
	CHECK_EQ(history_read_wanted(dir, &wanted, &few, NULL), 0);
	CHECK_EQ(history_covers(few)->rest, 0);
	CHECK_EQ(count_at(few, "/usr/bin/7", 1), 2);
}

/* A copy has the slices of the window, and of these what is wanted. */
static void a_part_is_copied(void)
{
	_cleanup_directory_ char *dir = test_directory(), *to = test_directory();
	_cleanup_(history_freep) struct history *h = NULL;
	const struct window window = { 15000, 40000 };
	const struct history_copying what = { &window, is_not_a, (void *)"/usr/bin/c" };
	size_t damaged = 1;

	write_three(dir);
	CHECK_EQ(history_copy(dir, &what, to, &damaged, NULL), 0);
	CHECK_EQ(damaged, 0);
	h = read_window(to, INT64_MIN, INT64_MAX);
	CHECK_EQ(history_covers(h)->slices, 2);
	CHECK_EQ(history_covers(h)->span.begin_ms, 10000);
	CHECK_EQ(history_covers(h)->span.end_ms, 35000);
	CHECK_EQ(history_covers(h)->taken, 10);
	CHECK_EQ(history_files(h), 1);
	CHECK_EQ(count_at(h, "/usr/bin/a", 0x10), 5);
	CHECK_EQ(count_at(h, "/usr/bin/a", 0x8), 1);
}

static void names_say_what_the_file_is(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(history_freep) struct history *all = NULL;
	struct history_writer *h = history_writer_new(dir);
	struct history_name name = name_of("/tmp/tab\there\n");
	const struct history_file *f;

	name.name.image = (struct sname_image){ .kind = SNAME_KERN, .name = "ext4" };
	name.name.task.tid = 7;
	name.name.task.cgroup = "/a b";
	name.header.is_kernel = true;
	name.header.event = 60;
	name.name.unit_mask = 3;
	history_writer_count(h, history_writer_file(h, &name), 1, 1);
	end(h, 0, 1);
	history_writer_free(h);
	all = read_window(dir, 0, 1);
	CHECK_EQ(history_files(all), 1);
	f = history_file_at(all, 0);
	CHECK_STR(f->name.app->name, "/tmp/tab\there\n");
	CHECK_STR(f->name.image->name, "ext4");
	CHECK_STR(f->name.rest->event, "TIMER");
	CHECK_STR(f->name.rest->task.cgroup, "/a b");
	CHECK_EQ(f->name.rest->task.tid, 7);
	CHECK(f->header->is_kernel);
	CHECK_EQ(f->header->mtime, 7);
	CHECK_EQ(f->header->cpu_type, 4);
	CHECK_EQ(f->header->cpu_mhz, 2400);
	CHECK_EQ(f->header->event, 60);
	CHECK_EQ(f->header->unit_mask, 3);
}

static void generations_have_their_own_numbers(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(history_freep) struct history *all = NULL, *later = NULL;
	struct history_writer *h = history_writer_new(dir);
	uint32_t epoch;

	count(h, "/usr/bin/a", 1, 1);
	count(h, "/usr/bin/b", 1, 2);
	epoch = history_writer_epoch(h);
	end(h, 10 * HOUR_MS, 10 * HOUR_MS + 10000);
	CHECK_EQ(history_writer_epoch(h), epoch);
	end(h, 10 * HOUR_MS + 10000, 11 * HOUR_MS + 5);
	CHECK(history_writer_epoch(h) != epoch);
	count(h, "/usr/bin/b", 1, 4);
	end(h, 11 * HOUR_MS + 5, 11 * HOUR_MS + 10000);
	history_writer_free(h);
	/* Another writer, and a clock that was set back meanwhile. */
	h = history_writer_new(dir);
	count(h, "/usr/bin/b", 1, 8);
	end(h, 10 * HOUR_MS, 10 * HOUR_MS + 10000);
	history_writer_free(h);
	all = read_window(dir, INT64_MIN, INT64_MAX);
	CHECK_EQ(count_at(all, "/usr/bin/a", 1), 1);
	CHECK_EQ(count_at(all, "/usr/bin/b", 1), 14);
	later = read_window(dir, 11 * HOUR_MS + 6, INT64_MAX);
	CHECK_EQ(count_at(later, "/usr/bin/b", 1), 4);
	CHECK_EQ(history_files(later), 1);
}

/* Counts in 30,000 other files: their names take more than 4 MiB. */
static void count_names(struct history_writer *h, int slice)
{
	for (int i = 0; i < 30000; i++) {
		_cleanup_free_ char *path = xasprintf("/tmp/a/directory/conftest%d.%d", slice, i);

		count(h, path, 1, 1);
	}
	count(h, "/usr/bin/a", 1, 1);
}

/* Programs that run once do not fill the memory until the hour ends. */
static void the_names_of_a_generation_are_limited(void)
{
	enum { SLICES = 6 };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(history_freep) struct history *all = NULL;
	struct history_writer *h = history_writer_new(dir);
	uint32_t epoch = history_writer_epoch(h);
	int i;

	for (i = 0; i < SLICES; i++) {
		int64_t begin_ms = 10 * HOUR_MS + i * 10000;

		count_names(h, i);
		CHECK(!history_writer_is_full(h) && history_writer_memory(h) < 16 << 20);
		end(h, begin_ms, begin_ms + 10000);
		CHECK_EQ(history_writer_epoch(h), ++epoch);
		CHECK_EQ(history_writer_generation(h), 1); /* of the hour */
	}
	for (i = 0; !history_writer_is_full(h) && i < 10; i++)
		count_names(h, SLICES + i);
	CHECK(i > 1 && i < 10);
	end(h, 11 * HOUR_MS, 11 * HOUR_MS + 10000);
	CHECK_EQ(history_writer_generation(h), SLICES + 1);
	history_writer_free(h);
	all = read_window(dir, INT64_MIN, INT64_MAX);
	CHECK_EQ(count_at(all, "/usr/bin/a", 1), (uint64_t)SLICES + (uint64_t)i);
	CHECK_EQ(count_at(all, "/tmp/a/directory/conftest5.29999", 1), 1);
}

static void slices_catch_up_with_a_clock_that_is_set_back_a_little(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(history_freep) struct history *all = NULL;
	struct history_writer *h = history_writer_new(dir);
	struct slice back = { .span = { 45000, 55000 } }, next = { .span = { 55000, 65000 } },
		     last = { .span = { 65000, 75000 } };

	end(h, 40000, 50000);
	CHECK_EQ(history_writer_end(h, &back, NULL), 0);
	CHECK_EQ(back.span.begin_ms, 50000);
	CHECK_EQ(back.span.end_ms, 57500);
	CHECK_EQ(history_writer_end(h, &next, NULL), 0);
	CHECK_EQ(next.span.begin_ms, 57500);
	CHECK_EQ(next.span.end_ms, 65000);
	CHECK_EQ(history_writer_end(h, &last, NULL), 0);
	CHECK_EQ(last.span.begin_ms, 65000);
	history_writer_free(h);
	all = read_window(dir, INT64_MIN, INT64_MAX);
	CHECK_EQ(history_covers(all)->span.begin_ms, 40000);
	CHECK_EQ(history_covers(all)->span.end_ms, 75000);
	CHECK_EQ(history_covers(all)->gaps_ms, 0);
}

/* What is sampled from then on is found at the time that the clock shows. */
static void a_clock_that_is_set_back_by_hours_has_slices_of_both_times(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(history_freep) struct history *all = NULL, *then = NULL;
	struct history_writer *h = history_writer_new(dir);

	count(h, "/usr/bin/a", 1, 1);
	end(h, 5 * HOUR_MS, 5 * HOUR_MS + 10000);
	count(h, "/usr/bin/a", 1, 2);
	end(h, 2 * HOUR_MS, 2 * HOUR_MS + 10000);
	count(h, "/usr/bin/a", 1, 4);
	end(h, 2 * HOUR_MS + 10000, 2 * HOUR_MS + 20000);
	history_writer_free(h);
	then = read_window(dir, 2 * HOUR_MS, 2 * HOUR_MS + 20000);
	CHECK_EQ(count_at(then, "/usr/bin/a", 1), 6);
	CHECK_EQ(history_covers(then)->covered_ms, 20000);
	all = read_window(dir, INT64_MIN, INT64_MAX);
	CHECK_EQ(count_at(all, "/usr/bin/a", 1), 7);
	CHECK_EQ(history_covers(all)->covered_ms, 30000);
}

static void what_was_not_ended_is_in_no_slice(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(history_freep) struct history *all = NULL;
	struct history_writer *h = history_writer_new(dir);
	struct history *none = NULL;

	count(h, "/usr/bin/a", 1, 1);
	history_writer_free(h);
	CHECK_EQ(history_read(dir, &WINDOW_ALL, NULL, &none, NULL), -ENOENT);
	h = history_writer_new(dir);
	count(h, "/usr/bin/a", 1, 1);
	end(h, 0, 10);
	count(h, "/usr/bin/a", 1, 1);
	history_writer_leave(h);
	count(h, "/usr/bin/a", 1, 4);
	end(h, 20, 30);
	history_writer_free(h);
	all = read_window(dir, INT64_MIN, INT64_MAX);
	CHECK_EQ(count_at(all, "/usr/bin/a", 1), 5);
}

/* Damages the byte at @at of the file; -1: of its end. */
static void damage(const char *dir, const char *file, off_t at)
{
	_cleanup_free_ char *path = path_join(dir, file);
	_cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC);
	uint8_t byte;

	at = at < 0 ? lseek(fd, 0, SEEK_END) + at : at;
	CHECK_EQ(pread(fd, &byte, 1, at), 1);
	byte ^= 0x55;
	CHECK_EQ(pwrite(fd, &byte, 1, at), 1);
}

static void damage_is_skipped_and_counted(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(history_freep) struct history *no_slice = NULL, *no_name = NULL;

	write_three(dir);
	damage(dir, "history/1.slices", -1);
	no_slice = read_window(dir, INT64_MIN, INT64_MAX);
	CHECK_EQ(count_at(no_slice, "/usr/bin/a", 0x10), 9);
	CHECK_EQ(count_at(no_slice, "/usr/bin/c", 0), 0);
	CHECK_EQ(history_covers(no_slice)->slices, 2);
	CHECK(history_covers(no_slice)->damaged > 0);
	damage(dir, "history/1.names", 0);
	no_name = read_window(dir, INT64_MIN, INT64_MAX);
	CHECK_EQ(count_at(no_name, "/usr/bin/a", 0x10), 0);
	CHECK_EQ(count_at(no_name, "/usr/bin/b", UINT64_MAX), 2);
}

static void steps_are_round_and_fit(void)
{
	static const struct {
		int64_t begin_ms, end_ms, length_ms;
		uint32_t most, count;
		int64_t first_ms, expected_ms;
	} rows[] = {
		{ 0, 10000, 0, 60, 1, 0, 10000 },
		{ 3000, 600000, 0, 60, 60, 0, 10000 },
		{ 0, HOUR_MS, 0, 60, 60, 0, 60000 },
		{ 59000, HOUR_MS, 0, 59, 30, 0, 120000 },
		{ 59000, HOUR_MS, 60000, 2, 60, 0, 60000 },
		{ -1, 10000, 0, 60, 2, -10000, 10000 },
		{ 0, (int64_t)HOUR_MS * 24 * 365, 0, 60, 53, 0, (int64_t)HOUR_MS * 24 * 7 },
	};
	size_t i;

	(void)setenv("TZ", "UTC", 1);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct window span = { rows[i].begin_ms, rows[i].end_ms };
		struct steps s = { 0 };

		CHECK_EQ(steps_choose(&span, rows[i].length_ms, rows[i].most, &s, NULL), 0);
		CHECK_EQ(s.begin_ms, rows[i].first_ms);
		CHECK_EQ(s.length_ms, rows[i].expected_ms);
		CHECK_EQ(s.count, rows[i].count);
	}
}

/* Labels next to each other are of the same day, or dates. */
static void labels_are_a_part_of_a_day_or_whole_days_apart(void)
{
	enum { MINUTE = 60000, HOUR = 60 * MINUTE, DAY = 24 * HOUR };
	static const int64_t rows[][2] = { /* of steps, of labels */
					   { 10000, 2 * MINUTE },
					   { HOUR, 12 * HOUR },
					   { 3 * HOUR, DAY },
					   { 6 * HOUR, 2 * (int64_t)DAY },
					   { 12 * HOUR, 4 * (int64_t)DAY },
					   { DAY, 7 * (int64_t)DAY }
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(steps_label_ms(&(struct steps){ .length_ms = rows[i][0] }, 7), rows[i][1]);
}

static void steps_are_whole_slices_and_not_too_many(void)
{
	const struct window hour = { 0, HOUR_MS }, year = { 0, (int64_t)HOUR_MS * 24 * 365 };
	struct steps s;

	CHECK_EQ(steps_choose(&hour, 15000, 60, &s, NULL), -EINVAL);
	CHECK_EQ(steps_choose(&hour, -10000, 60, &s, NULL), -EINVAL);
	CHECK_EQ(steps_choose(&year, 10000, 60, &s, NULL), -EINVAL);
}

static void lengths_are_written_as_they_are_read(void)
{
	static const char *const texts[] = { "10s", "1m30s", "1h", "1d", "1d2h3m4s" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		_cleanup_free_ char *text = NULL;
		int64_t ms;

		CHECK_EQ(window_duration(texts[i], &ms), 0);
		text = steps_length_text(ms);
		CHECK_STR(text, texts[i]);
	}
}

/* A slice is in the step of its middle, so those at the edges of the window are in one, too. */
static void steps_add_up_to_the_window(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(history_freep) struct history *h = NULL;
	uint64_t counted[2] = { 0 };
	struct window span;
	struct steps steps;
	size_t i, k;

	write_three(dir);
	CHECK_EQ(history_span(dir, &(struct window){ 5000, INT64_MAX }, &span, NULL), 0);
	CHECK_EQ(span.begin_ms, 5000);
	CHECK_EQ(span.end_ms, 35000);
	CHECK_EQ(history_span(dir, &(struct window){ 35000, INT64_MAX }, &span, NULL), -ENOENT);
	/* With the middles of the slices at both ends: 5000 and 30000. */
	CHECK_EQ(history_span(dir, &(struct window){ 8000, 26000 }, &span, NULL), 0);
	CHECK_EQ(span.begin_ms, 5000);
	CHECK_EQ(span.end_ms, 30001);
	CHECK_EQ(history_span(dir, &(struct window){ 5000, INT64_MAX }, &span, NULL), 0);
	CHECK_EQ(steps_choose(&span, 20000, 0, &steps, NULL), 0);
	CHECK_EQ(steps.count, 2);
	CHECK_EQ(history_read(dir, &WINDOW_ALL, &steps, &h, NULL), 0);
	for (i = 0; i < history_files(h); i++) {
		const struct history_file *f = history_file_at(h, i);

		for (k = 0; k < f->count && strcmp(f->name.image->name, "/usr/bin/c"); k++)
			counted[f->counts[k].step] += f->counts[k].count;
	}
	CHECK_EQ(counted[0], 12);
	CHECK_EQ(counted[1], 0);
	CHECK_EQ(history_covers_step(h, 0)->slices, 2);
	CHECK_EQ(history_covers_step(h, 0)->covered_ms, 20000);
	CHECK_EQ(history_covers_step(h, 1)->samples, 10);
	CHECK_EQ(history_covers(h)->covered_ms, 30000);
}

TESTS(T(a_window_has_the_slices_that_it_meets), T(counts_without_keys_are_added_up),
      T(programs_that_are_not_at_the_top_are_added_up), T(a_part_is_copied),
      T(names_say_what_the_file_is), T(generations_have_their_own_numbers),
      T(the_names_of_a_generation_are_limited),
      T(slices_catch_up_with_a_clock_that_is_set_back_a_little),
      T(a_clock_that_is_set_back_by_hours_has_slices_of_both_times),
      T(what_was_not_ended_is_in_no_slice), T(damage_is_skipped_and_counted),
      T(steps_are_round_and_fit), T(labels_are_a_part_of_a_day_or_whole_days_apart),
      T(steps_are_whole_slices_and_not_too_many), T(lengths_are_written_as_they_are_read),
      T(steps_add_up_to_the_window))
