/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/mem.h"
#include "record/store/store.h"

#include <string.h>

enum { FILES = 200 };

/* A store, and images with a file each. */
struct bench {
	char *dir;
	struct event event;
	struct store *store;
	struct sampled_image images[FILES];
};

static void bench_init(struct bench *b)
{
	struct store_config config = { .sample_events = 1, .open_max = 1000 };

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
	bench_init(&b)

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

TESTS(T(many_new_files_are_opened_over_several_turns),
      T(files_are_closed_by_choice_as_far_as_there_is_time), T(files_used_since_stay_open))
