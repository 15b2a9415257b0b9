/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "perf/ring_merge.h"
#include "perf_bytes.h"

/* The time of the ring's next record, which is taken; 0 if there is none. */
static uint64_t next_time(struct ring *r)
{
	struct perf_record record;
	struct span bytes;

	ring_refresh(r);
	if (ring_peek(r, &bytes) <= 0)
		return 0;
	CHECK_EQ(perf_record_decode(bytes, &record), 0);
	ring_take(r);
	return record.time_ns;
}

static void records_come_out_whole_over_the_end(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct bytes_ring *memory = xcalloc(1, sizeof(*memory));
	struct ring r;
	uint64_t i;

	ring_init(&r, &memory->page, memory->data, BYTES_RING_SIZE);
	/* 136 bytes: the ring's end falls on every place of a record in turn. */
	for (i = 1; i < 600; i++) {
		bytes_map(&b, 7, i, 1, 5, "/a/path/that/is/not/short/at/all", i);
		bytes_write(memory, b.text, b.length);
		CHECK_EQ(next_time(&r), i);
		CHECK_EQ(next_time(&r), 0);
		ring_release(&r);
		CHECK_EQ(memory->page.data_tail, memory->page.data_head);
	}
	ring_done(&r);
	free(memory);
}

static void room_is_given_back_only_when_released(void)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct bytes_ring *memory = xcalloc(1, sizeof(*memory));
	struct ring r;

	ring_init(&r, &memory->page, memory->data, BYTES_RING_SIZE);
	bytes_sample(&b, 1, 7, 1, 11);
	bytes_write(memory, b.text, b.length);
	bytes_write(memory, b.text, b.length);
	ring_refresh(&r);
	CHECK_EQ(ring_used(&r), 80);
	CHECK_EQ(next_time(&r), 11);
	CHECK_EQ(memory->page.data_tail, 0);
	CHECK_EQ(ring_used(&r), 40);
	ring_release(&r);
	CHECK_EQ(memory->page.data_tail, 40);
	ring_done(&r);
	free(memory);
}

static void nonsense_empties_the_ring(void)
{
	static const uint16_t sizes[] = { 0, 7, 48, UINT16_MAX };
	struct perf_event_header header = { .type = PERF_RECORD_SAMPLE };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct bytes_ring *memory = xcalloc(1, sizeof(*memory));
		uint8_t rest[32] = { 0 };
		struct span bytes;
		struct ring r;

		ring_init(&r, &memory->page, memory->data, BYTES_RING_SIZE);
		header.size = sizes[i];
		bytes_write(memory, &header, sizeof(header));
		bytes_write(memory, rest, sizeof(rest));
		ring_refresh(&r);
		CHECK_EQ(ring_peek(&r, &bytes), -EBADMSG);
		CHECK_EQ(ring_peek(&r, &bytes), 0);
		/* A head that ran away from us is nonsense too. */
		memory->page.data_head += 3 * BYTES_RING_SIZE;
		ring_refresh(&r);
		CHECK_EQ(ring_peek(&r, &bytes), -EBADMSG);
		CHECK_EQ(ring_used(&r), 0);
		ring_done(&r);
		free(memory);
	}
}

/* Two CPUs without a kernel, and what the merge made of them. */
struct cpus {
	struct bytes_ring memory[2][2]; /* samples, sideband */
	struct ring rings[2][2];
	struct ring_merge_cpu merge[2];
	struct strbuf seen; /* "s0:5" a sample of CPU 0 at 5, "c1:7" a change */
	size_t bad;	    /* records, in the last run */
};

static void see(struct cpus *c, char what, size_t cpu, const struct perf_record *r)
{
	strbuf_addf(&c->seen, "%s%c%zu:%" PRIu64, c->seen.length ? " " : "", what, cpu, r->time_ns);
}

static void on_sample(size_t cpu, const struct perf_record *r, void *data)
{
	see(data, 's', cpu, r);
}

static void on_change(size_t cpu, const struct perf_record *r, void *data)
{
	see(data, 'c', cpu, r);
}

static struct cpus *cpus_new(void)
{
	struct cpus *c = xcalloc(1, sizeof(*c));
	size_t i, k;

	for (i = 0; i < 2; i++) {
		for (k = 0; k < 2; k++)
			ring_init(&c->rings[i][k], &c->memory[i][k].page, c->memory[i][k].data,
				  BYTES_RING_SIZE);
		c->merge[i].samples = &c->rings[i][0];
		c->merge[i].sideband = &c->rings[i][1];
	}
	return c;
}

static void cpus_free(struct cpus *c)
{
	size_t i, k;

	for (i = 0; i < 2; i++)
		for (k = 0; k < 2; k++)
			ring_done(&c->rings[i][k]);
	strbuf_done(&c->seen);
	free(c);
}

static void run(struct cpus *c, uint64_t until_ns)
{
	const struct ring_merge_handler handler = { on_sample, on_change, c };

	strbuf_clear(&c->seen);
	c->bad = ring_merge_run(c->merge, 2, until_ns, &handler);
}

static void samples_at(struct cpus *c, size_t cpu, const uint64_t *times)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	for (; *times; times++) {
		bytes_sample(&b, 1, 7, 1, *times);
		bytes_write(&c->memory[cpu][0], b.text, b.length);
	}
}

static void changes_at(struct cpus *c, size_t cpu, const uint64_t *times)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	for (; *times; times++) {
		bytes_comm(&b, 7, 7, "x", false, *times);
		bytes_write(&c->memory[cpu][1], b.text, b.length);
	}
}
#define TIMES(...) ((const uint64_t[]){ __VA_ARGS__, 0 })

static void changes_stand_between_the_samples_they_separate(void)
{
	struct cpus *c = cpus_new();

	samples_at(c, 0, TIMES(10, 20, 30, 40));
	samples_at(c, 1, TIMES(11, 21, 31));
	changes_at(c, 0, TIMES(25));
	changes_at(c, 1, TIMES(15, 35));
	run(c, UINT64_MAX);
	CHECK_STR(strbuf_text(&c->seen),
		  "s0:10 s1:11 c1:15 s0:20 s1:21 c0:25 s0:30 s1:31 c1:35 s0:40");
	cpus_free(c);
}

static void change_of_the_same_moment_comes_first(void)
{
	struct cpus *c = cpus_new();

	samples_at(c, 0, TIMES(10, 20));
	changes_at(c, 1, TIMES(20));
	run(c, UINT64_MAX);
	CHECK_STR(strbuf_text(&c->seen), "s0:10 c1:20 s0:20");
	cpus_free(c);
}

static void what_is_too_young_stays_for_the_next_time(void)
{
	struct cpus *c = cpus_new();

	samples_at(c, 0, TIMES(10, 30, 50));
	samples_at(c, 1, TIMES(20, 40));
	changes_at(c, 1, TIMES(35));
	run(c, 30);
	CHECK_STR(strbuf_text(&c->seen), "s0:10 s0:30 s1:20");
	changes_at(c, 0, TIMES(32));
	run(c, 40);
	CHECK_STR(strbuf_text(&c->seen), "c0:32 c1:35 s1:40");
	run(c, 40);
	CHECK_STR(strbuf_text(&c->seen), "");
	CHECK_EQ(ring_used(&c->rings[0][0]), 40);
	run(c, UINT64_MAX);
	CHECK_STR(strbuf_text(&c->seen), "s0:50");
	CHECK_EQ(c->memory[0][0].page.data_tail, c->memory[0][0].page.data_head);
	cpus_free(c);
}

static void bad_records_do_not_hide_the_good_ones(void)
{
	struct perf_event_header bad = { .type = PERF_RECORD_SAMPLE, .size = sizeof(bad) };
	struct cpus *c = cpus_new();

	samples_at(c, 0, TIMES(10));
	bytes_write(&c->memory[0][0], &bad, sizeof(bad));
	samples_at(c, 0, TIMES(20));
	bytes_write(&c->memory[1][1], &bad, sizeof(bad));
	run(c, UINT64_MAX);
	CHECK_STR(strbuf_text(&c->seen), "s0:10 s0:20");
	CHECK_EQ(c->bad, 2);
	CHECK_EQ(c->memory[1][1].page.data_tail, sizeof(bad));
	cpus_free(c);
}

/* The run takes some records although its time is over, and leaves the others as they are. */
static void a_run_that_takes_too_long_is_cut(void)
{
	bool is_cut = false;
	struct cpus *c = cpus_new();
	const struct ring_merge_handler cut = { on_sample, on_change, c, .end_ns = 1,
						.is_cut = &is_cut };

	samples_at(c, 0, TIMES(10, 20, 30, 40, 50, 60));
	samples_at(c, 1, TIMES(11, 21, 31, 41, 51));
	changes_at(c, 1, TIMES(35));
	CHECK_EQ(ring_merge_run(c->merge, 2, UINT64_MAX, &cut), 0);
	CHECK(is_cut);
	CHECK_STR(strbuf_text(&c->seen), "s0:10 s0:20 s0:30 s1:11 s1:21 s1:31 c1:35 s0:40");
	CHECK_EQ(ring_used(&c->rings[1][1]), 0);
	strbuf_clear(&c->seen);
	is_cut = false;
	CHECK_EQ(ring_merge_run(c->merge, 2, UINT64_MAX, &cut), 0);
	CHECK_STR(strbuf_text(&c->seen), "s0:50 s0:60 s1:41 s1:51");
	CHECK(!is_cut);
	cpus_free(c);
}

/* A wrong clock: one record of the far future must not delay those after it. */
static void records_of_the_future_are_taken_as_of_now(void)
{
	const uint64_t day = 86400000000000;
	struct cpus *c = cpus_new();

	samples_at(c, 0, TIMES(10, day, 20));
	changes_at(c, 1, TIMES(5, UINT64_MAX, 15));
	run(c, 30);
	CHECK_STR(strbuf_text(&c->seen), "c1:5 s0:10 c1:30 c1:15 s0:30 s0:20");
	samples_at(c, 0, TIMES(day - 1, day, 2 * day));
	run(c, UINT64_MAX);
	CHECK_STR(strbuf_text(&c->seen), "s0:86399999999999 s0:86400000000000 s0:172800000000000");
	cpus_free(c);
}

TESTS(T(records_come_out_whole_over_the_end), T(room_is_given_back_only_when_released),
      T(nonsense_empties_the_ring), T(changes_stand_between_the_samples_they_separate),
      T(change_of_the_same_moment_comes_first), T(what_is_too_young_stays_for_the_next_time),
      T(bad_records_do_not_hide_the_good_ones), T(a_run_that_takes_too_long_is_cut),
      T(records_of_the_future_are_taken_as_of_now))
