/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "perf/counting.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>

static void counts_are_scaled_to_the_whole_time(void)
{
	static const struct {
		struct counting_value value;
		uint64_t count;
		double percent;
	} rows[] = {
		{ { 0, 0, 0 }, 0, 100 },
		{ { 7, 100, 100 }, 7, 100 },
		{ { 7, 100, 50 }, 14, 50 },
		{ { 1, 3, 2 }, 2, 200 / 3.0 }, /* 1.5, rounded */
		{ { 1, 7, 5 }, 1, 500 / 7.0 }, /* 1.4, rounded */
		{ { 0, 100, 0 }, 0, 0 },       /* never had a counter */
		{ { 7, 100, 101 }, 7, 100 },
		{ { UINT64_MAX, 2, 1 }, UINT64_MAX, 50 },
		{ { 1ULL << 63, 1ULL << 40, 1ULL << 39 }, UINT64_MAX, 50 },
		{ { 1ULL << 40, 1ULL << 41, 1ULL << 40 }, 1ULL << 41, 50 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct counting_sum sum = { 0 };

		counting_add(&sum, &rows[i].value);
		if (sum.count != rows[i].count || counting_percent(&sum) != rows[i].percent) {
			printf("# row %zu\n", i);
			CHECK_EQ(sum.count, rows[i].count);
			CHECK(counting_percent(&sum) == rows[i].percent);
		}
	}
}

static void each_place_is_scaled_by_its_own_time(void)
{
	static const struct counting_value values[] = { { 10, 100, 100 }, { 10, 100, 20 } };
	struct counting_sum sum = { 0 };

	counting_add(&sum, &values[0]);
	counting_add(&sum, &values[1]);
	CHECK_EQ(sum.count, 10 + 50);
	CHECK_EQ(sum.raw, 20);
	CHECK(counting_percent(&sum) == 60);
}

static void sums_saturate(void)
{
	static const struct counting_value most = { UINT64_MAX, UINT64_MAX, UINT64_MAX };
	struct counting_sum sum = { 0 };

	counting_add(&sum, &most);
	counting_add(&sum, &most);
	CHECK(sum.count == UINT64_MAX && sum.raw == UINT64_MAX && sum.enabled_ns == UINT64_MAX);
	CHECK(counting_percent(&sum) == 100);
}

static void an_interval_is_what_came_since(void)
{
	static const struct counting_value before = { 10, 1000, 500 }, now = { 16, 1400, 600 };
	struct counting_value since = counting_since(&now, &before);
	struct counting_sum sum = { 0 };

	CHECK(since.raw == 6 && since.enabled_ns == 400 && since.running_ns == 100);
	counting_add(&sum, &since);
	CHECK_EQ(sum.count, 24);
	since = counting_since(&before, &now);
	CHECK(since.raw == 0 && since.enabled_ns == 0 && since.running_ns == 0);
}

/* Events of this process, or skip where it may not have them. */
static struct counting *open_own(const char *const *names, size_t count, bool optional,
				 struct error *err)
{
	static const struct counting_place own = { .tid = 0, .cpu = -1 };
	struct event events[EVENT_MAX];
	struct counting *c = NULL;
	size_t i;

	for (i = 0; i < count; i++)
		CHECK_EQ(event_parse(names[i], &events[i], err), 0);
	(void)counting_open(&(struct counting_config){ .events = events,
						       .event_count = count,
						       .places = &own,
						       .place_count = 1,
						       .optional = optional },
			    &c, err);
	return c;
}

static void touched_pages_are_counted(void)
{
	enum { PAGES = 1000 };
	static const char *const names[] = { "PAGE_FAULTS", "TASK_CLOCK" };
	_cleanup_(counting_freep) struct counting *c = NULL;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	struct counting_value before[2], after[2];
	struct error err = ERROR_INIT;
	char *memory;

	c = open_own(names, ARRAY_SIZE(names), false, &err);
	if (!c)
		SKIP("no event of this process opens");
	memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED || madvise(memory, PAGES * page, MADV_NOHUGEPAGE) < 0)
		SKIP("no memory without huge pages");
	CHECK_EQ(counting_read(c, before, &err), 0);
	CHECK(before[0].raw == 0 && before[1].raw == 0);
	counting_start(c);
	for (i = 0; i < PAGES; i++)
		memory[i * page] = 1;
	counting_stop(c);
	CHECK_EQ(counting_read(c, before, &err), 0);
	memory[0] = 2;
	CHECK_EQ(munmap(memory, PAGES * page), 0);
	CHECK_EQ(counting_read(c, after, &err), 0);
	/* An eighth more are the address sanitizer's shadow of them. */
	CHECK(before[0].raw >= PAGES && before[0].raw < PAGES + PAGES / 8 + 50);
	CHECK(before[1].raw > 0 && before[0].enabled_ns == before[0].running_ns);
	CHECK_EQ(after[0].raw, before[0].raw); /* it was stopped */
	CHECK_EQ(after[1].raw, before[1].raw);
}

/* An event that no kernel has. */
static const struct event nonsense = { .name = "NONSENSE",
				       .kernel = true,
				       .user = true,
				       .perf_type = PERF_TYPE_SOFTWARE,
				       .perf_config = 0xffff };

static void an_event_that_does_not_open_is_named(void)
{
	struct counting_config config = {
		.events = &nonsense,
		.event_count = 1,
		.places = &(struct counting_place){ .tid = 0, .cpu = -1 },
		.place_count = 1,
	};
	struct error err = ERROR_INIT;
	struct counting *c = NULL;

	CHECK(counting_open(&config, &c, &err) < 0);
	CHECK(!c && !strncmp(err.text, "cannot count NONSENSE: ", 23));
	config.optional = true;
	CHECK(counting_open(&config, &c, &err) < 0); /* nothing would be left */
	CHECK(!c);
}

static void an_optional_event_may_be_missing(void)
{
	struct event events[2] = { nonsense };
	struct counting_value values[2] = { { 1, 1, 1 }, { 1, 1, 1 } };
	_cleanup_(counting_freep) struct counting *c = NULL;
	struct error err = ERROR_INIT;

	CHECK_EQ(event_parse("PAGE_FAULTS", &events[1], &err), 0);
	if (counting_open(&(struct counting_config){ .events = events,
						     .event_count = 2,
						     .places = &(struct counting_place){ 0, -1 },
						     .place_count = 1,
						     .optional = true },
			  &c, &err) < 0)
		SKIP("no event of this process opens");
	CHECK(counting_why_not(c, 0) && strncmp(counting_why_not(c, 0), "NONSENSE: ", 10));
	CHECK(!counting_why_not(c, 1));
	CHECK_EQ(counting_read(c, values, &err), 0);
	CHECK(values[0].raw == 0 && values[0].enabled_ns == 0);
}

static void a_task_that_is_not_there_is_an_error(void)
{
	static const struct counting_place places[] = { { INT32_MAX, -1 }, { 0, -1 } };
	struct counting_config config = { .event_count = 1, .places = places, .place_count = 2 };
	_cleanup_(counting_freep) struct counting *c = NULL;
	struct counting *none = NULL;
	struct error err = ERROR_INIT;
	struct event event;

	CHECK_EQ(event_parse("PAGE_FAULTS", &event, &err), 0);
	config.events = &event;
	/* One of two is passed over: a thread may end while one opens its events. */
	if (counting_open(&config, &c, &err) < 0)
		SKIP("no event of this process opens");
	config.place_count = 1;
	CHECK_EQ(counting_open(&config, &none, &err), -ESRCH);
	CHECK(!none);
}

TESTS(T(counts_are_scaled_to_the_whole_time), T(each_place_is_scaled_by_its_own_time),
      T(sums_saturate), T(an_interval_is_what_came_since), T(touched_pages_are_counted),
      T(an_event_that_does_not_open_is_named), T(an_optional_event_may_be_missing),
      T(a_task_that_is_not_there_is_an_error))
