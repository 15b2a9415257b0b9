/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/clock.h"
#include "base/macro.h"
#include "base/mem.h"
#include "record/store/store.h"
#include "record/store/store_open.h"

#include "sfile/odb.h"
#include "sfile/sfile.h"

#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FILES = 200 };

/* A store, and images with a file each. */
struct bench {
	char *dir;
	struct event event;
	struct store *store;
	struct sampled_image images[FILES];
};

static void bench_init(struct bench *b, bool in_turns, unsigned int open_max)
{
	struct store_config config = { .sample_events = 1,
				       .open_max = open_max,
				       .in_turns = in_turns };

	*b = (struct bench){ .dir = test_directory() };
	event_timer(&b->event, 100, true, true);
	config.samples = b->dir;
	config.events = &b->event;
	b->store = store_new(&config);
	for (uint32_t i = 0; i < FILES; i++) {
		b->images[i].id = i + 1;
		b->images[i].image = (struct sname_image){ .kind = SNAME_ROOT,
							   .name = xasprintf("/bin/p%u", i) };
	}
}

static void bench_done(struct bench *b)
{
	store_free(b->store);
	for (uint32_t i = 0; i < FILES; i++)
		free((char *)b->images[i].image.name);
	test_directory_donep(&b->dir);
}
#define BENCH(b)                                                                                   \
	_cleanup_(bench_done) struct bench b;                                                      \
	bench_init(&b, false, 1000)
#define BENCH_IN_TURNS(b, open_max)                                                                \
	_cleanup_(bench_done) struct bench b;                                                      \
	bench_init(&b, true, open_max)

static void sample_all(struct bench *b)
{
	for (uint32_t i = 0; i < FILES; i++) {
		const struct store_key key = { &b->images[i], &b->images[i], 0, SNAME_TASK_ALL };
		struct store_file *f = store_get(b->store, &key);

		if (CHECK(f != NULL))
			store_add(b->store, f, 0x10, 1);
	}
}

static size_t open_files(struct bench *b)
{
	return store_open_files(b->store, NULL);
}

static uint64_t samples_in_files(const struct bench *b)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < FILES; i++) {
		_cleanup_free_ char *path =
			xasprintf("%s/{root}/bin/p%u/{dep}/{root}/bin/p%u/TIMER.0.0.all.all.all",
				  b->dir, i, i);
		_cleanup_(sfile_closep) struct sfile *sf = NULL;

		if (CHECK(sfile_open(path, &sf, NULL) == 0))
			sum += odb_get(sfile_odb(sf), 0x10);
	}
	return sum;
}

static void many_new_files_are_opened_over_several_turns(void)
{
	BENCH(b);
	size_t few;

	sample_all(&b);
	few = open_files(&b);
	CHECK(few > 0 && few < FILES / 2);
	CHECK(store_turn(b.store, 1)); /* it is later than that: there is no time */
	CHECK_EQ(open_files(&b), few);
	CHECK(!store_turn(b.store, UINT64_MAX));
	CHECK_EQ(open_files(&b), FILES);
	CHECK_EQ(store_lost(b.store, STORE_LOST_SAMPLES), 0);
}

static bool is_among_the_first(const struct store_key *key, void *data)
{
	return key->image->id <= *(const uint32_t *)data;
}

static void files_are_closed_by_choice_as_far_as_there_is_time(void)
{
	BENCH(b);
	uint32_t first = 50;
	struct store_choice choice = { .until_tick = UINT64_MAX,
				       .leaves = is_among_the_first,
				       .data = &first,
				       .until_ns = 1 };

	sample_all(&b);
	(void)store_turn(b.store, UINT64_MAX);
	CHECK(!store_leave(b.store, &choice, true));
	CHECK_EQ(open_files(&b), FILES);
	choice.until_ns = UINT64_MAX;
	CHECK(store_leave(b.store, &choice, true));
	CHECK_EQ(open_files(&b), FILES - first);
	choice = (struct store_choice){ .until_tick = store_tick(b.store) };
	CHECK(store_leave(b.store, &choice, true));
	CHECK_EQ(open_files(&b), 0);
}

static void files_used_since_stay_open(void)
{
	BENCH(b);
	struct store_choice choice = { 0 };

	sample_all(&b);
	(void)store_turn(b.store, UINT64_MAX);
	choice.until_tick = store_tick(b.store);
	sample_all(&b);
	CHECK(store_leave(b.store, &choice, true));
	CHECK_EQ(open_files(&b), FILES);
}

/* Has turns until there is nothing to do in one. */
static void have_turns(struct bench *b)
{
	int turns = 0;

	while (store_turn(b->store, UINT64_MAX) && turns++ < 10000)
		(void)poll(NULL, 0, 1);
	CHECK(turns < 10000);
}

static void a_loop_with_turns_opens_no_file_itself(void)
{
	BENCH_IN_TURNS(b, 1000);
	struct store_choice choice = { .until_ns = UINT64_MAX };

	sample_all(&b);
	CHECK_EQ(open_files(&b), 0);
	have_turns(&b);
	CHECK_EQ(open_files(&b), FILES);
	sample_all(&b);
	choice.until_tick = store_tick(b.store);
	CHECK(store_leave(b.store, &choice, true));
	CHECK_EQ(open_files(&b), 0);
	CHECK_EQ(store_lost(b.store, STORE_LOST_SAMPLES), 0);
	CHECK_EQ(samples_in_files(&b), 2 * FILES);
}

static void what_a_thread_was_asked_for_is_there_at_the_end(void)
{
	BENCH_IN_TURNS(b, 1000);

	sample_all(&b);
	store_flush(b.store);
	CHECK_EQ(samples_in_files(&b), FILES);
	sample_all(&b);
	store_close_all(b.store);
	CHECK_EQ(open_files(&b), 0);
	CHECK_EQ(samples_in_files(&b), 2 * FILES);
}

/* What has no descriptor is tried again. */
static void a_thread_keeps_to_the_limit_of_descriptors(void)
{
	struct rlimit few, before;
	BENCH_IN_TURNS(b, 1000);

	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 40;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	sample_all(&b);
	have_turns(&b);
	CHECK(open_files(&b) > 8 && open_files(&b) < few.rlim_cur);
	store_close_all(b.store);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
	CHECK_EQ(store_lost(b.store, STORE_LOST_SAMPLES), 0);
	CHECK_EQ(samples_in_files(&b), FILES);
}

/* Leaves the process so many descriptors; returns the limit that it had. */
static struct rlimit leave_descriptors(rlim_t count)
{
	struct rlimit before, few;
	int lowest = dup(0);

	close(lowest);
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = (rlim_t)lowest + count;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	return before;
}

/* Samples while there is no descriptor, or only two. */
static void sample_without_descriptors(struct bench *b)
{
	for (rlim_t count = 0; count <= 2; count += 2) {
		struct rlimit before = leave_descriptors(count);

		sample_all(b);
		have_turns(b);
		store_flush(b->store);
		CHECK(open_files(b) <= count);
		CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
	}
	CHECK_EQ(store_lost(b->store, STORE_LOST_SAMPLES), 0);
}

static void without_descriptors_counts_wait(void)
{
	BENCH(alone);
	BENCH_IN_TURNS(in_turns, 1000);
	struct bench *const all[] = { &alone, &in_turns };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		sample_without_descriptors(all[i]);
		store_flush(all[i]->store);
		CHECK_EQ(store_lost(all[i]->store, STORE_LOST_SAMPLES), 0);
		CHECK_EQ(samples_in_files(all[i]), 2 * FILES);
	}
}

/* No image may be forgotten before. */
static void what_waits_for_descriptors_has_not_left(void)
{
	BENCH_IN_TURNS(b, 1000);
	struct store_choice choice = { .until_ns = UINT64_MAX };
	struct rlimit before;

	sample_all(&b);
	have_turns(&b);
	choice.until_tick = store_tick(b.store);
	CHECK(store_leave(b.store, &choice, true));
	before = leave_descriptors(0);
	sample_all(&b);
	have_turns(&b);
	choice.until_tick = store_tick(b.store);
	CHECK(!store_leave(b.store, &choice, true));
	CHECK(!store_turn(b.store, UINT64_MAX)); /* a loop waits */
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
	store_flush(b.store);
	CHECK(store_leave(b.store, &choice, true));
	CHECK_EQ(samples_in_files(&b), 2 * FILES);
}

static void without_descriptors_what_is_too_much_is_lost(void)
{
	BENCH(b);
	struct rlimit before = leave_descriptors(0);
	const struct store_key key = { &b.images[0], &b.images[0], 0, SNAME_TASK_ALL };
	enum { TOO_MANY = 2 << 20 };
	uint64_t lost;

	for (uint64_t i = 0; i < TOO_MANY; i++)
		store_add(b.store, store_get(b.store, &key), i, 1);
	lost = store_lost(b.store, STORE_LOST_SAMPLES);
	CHECK(lost > 0 && lost < TOO_MANY);
	store_close_all(b.store);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
	CHECK_EQ(store_lost(b.store, STORE_LOST_SAMPLES), TOO_MANY);
}

/* The limit of open files, which a lack of descriptors lowers, rises when that is over. */
static void after_a_lack_all_files_are_open_again(void)
{
	BENCH_IN_TURNS(b, FILES);
	struct rlimit before = leave_descriptors(32);
	uint64_t now_ns = clock_now_ns();

	sample_all(&b);
	have_turns(&b);
	CHECK(open_files(&b) < 32);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
	store_regain(b.store, now_ns);
	sample_all(&b);
	have_turns(&b);
	CHECK(open_files(&b) < 32);
	for (int i = 0; i < 100; i++)
		store_regain(b.store, now_ns += 60 * NS_PER_S);
	sample_all(&b);
	have_turns(&b);
	CHECK_EQ(open_files(&b), FILES);
	CHECK_EQ(store_lost(b.store, STORE_LOST_SAMPLES), 0);
}

static void few_files_are_open_at_a_time(void)
{
	BENCH_IN_TURNS(b, 16);

	for (int i = 0; i < 3; i++) {
		sample_all(&b);
		have_turns(&b);
		CHECK(open_files(&b) <= 16);
	}
	store_flush(b.store);
	CHECK_EQ(store_lost(b.store, STORE_LOST_SAMPLES), 0);
	CHECK_EQ(samples_in_files(&b), 3 * FILES);
}

static void what_a_thread_cannot_open_is_lost(void)
{
	BENCH_IN_TURNS(b, 1000);
	_cleanup_free_ char *path = path_join(b.dir, "{root}");

	CHECK_EQ(path_write(path, "", 0644, NULL), 0); /* no directory */
	sample_all(&b);
	have_turns(&b);
	CHECK_EQ(open_files(&b), 0);
	CHECK_EQ(store_lost(b.store, STORE_LOST_SAMPLES), FILES);
}

TESTS(T(many_new_files_are_opened_over_several_turns),
      T(files_are_closed_by_choice_as_far_as_there_is_time), T(files_used_since_stay_open),
      T(a_loop_with_turns_opens_no_file_itself), T(what_a_thread_was_asked_for_is_there_at_the_end),
      T(what_a_thread_cannot_open_is_lost), T(a_thread_keeps_to_the_limit_of_descriptors),
      T(without_descriptors_counts_wait), T(what_waits_for_descriptors_has_not_left),
      T(without_descriptors_what_is_too_much_is_lost), T(few_files_are_open_at_a_time),
      T(after_a_lack_all_files_are_open_again))
