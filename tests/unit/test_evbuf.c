/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "stream/evbuf.h"

#include <errno.h>
#include <inttypes.h>

#define ESC EVBUF_ESCAPE

/* Collects what a buffer hands over. */
struct taken {
	uint64_t words[512];
	size_t count, calls, offered; /* ->count: of words taken */
	int answer;
};

static int take(const uint64_t *words, size_t count, void *data)
{
	struct taken *t = data;

	t->calls++;
	t->offered += count;
	if (t->answer < 0)
		return t->answer;
	CHECK(t->count + count <= ARRAY_SIZE(t->words));
	memcpy(t->words + t->count, words, count * sizeof(*words));
	t->count += count;
	return 0;
}

/* Whether exactly these words were handed over; then forgets them. */
static void expect(struct taken *t, const uint64_t *words, size_t count)
{
	size_t i;

	CHECK_EQ(t->count, count);
	for (i = 0; i < count && i < t->count; i++)
		if (t->words[i] != words[i]) {
			printf("# word %zu\n", i);
			CHECK_EQ(t->words[i], words[i]);
		}
	t->count = 0;
}
#define EXPECT(t, ...)                                                                             \
	expect((t), (const uint64_t[]){ __VA_ARGS__ },                                             \
	       sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static const struct evbuf_context first = { .cpu = 2, .tgid = 70, .tid = 71, .app = 5 };

static void first_sample_says_everything(void)
{
	struct taken t = { .count = 0 };
	struct evbuf *b = evbuf_new(256, take, &t);

	evbuf_context(b, &first);
	evbuf_sample(b, 9, 0x1000, 0, 1);
	CHECK_EQ(evbuf_flush(b), 0);
	EXPECT(&t, ESC, EVBUF_CPU_SWITCH, 2, ESC, EVBUF_CTX_SWITCH, 71, 5, ESC, EVBUF_CTX_TGID, 70,
	       ESC, EVBUF_USER_ENTER, ESC, EVBUF_COOKIE_SWITCH, 9, 0x1000, 0);
	evbuf_free(b);
}

static void only_what_differs_is_written(void)
{
	struct evbuf_context other = first;
	struct taken t = { .count = 0 };
	struct evbuf *b = evbuf_new(256, take, &t);

	evbuf_context(b, &first);
	evbuf_sample(b, 9, 0x1000, 0, 1);
	(void)evbuf_flush(b);
	t.count = 0;

	evbuf_context(b, &first);
	evbuf_sample(b, 9, 0x1004, 1, 1);
	(void)evbuf_flush(b);
	EXPECT(&t, 0x1004, 1);

	other.cpu = 3;
	evbuf_context(b, &other);
	evbuf_kernel_sample(b, 0xffffffff81000000, 0, 1);
	(void)evbuf_flush(b);
	EXPECT(&t, ESC, EVBUF_CPU_SWITCH, 3, ESC, EVBUF_KERNEL_ENTER, 0xffffffff81000000, 0);

	other.tid = 72;
	evbuf_context(b, &other);
	evbuf_sample(b, 9, 4, 0, 1);
	(void)evbuf_flush(b);
	EXPECT(&t, ESC, EVBUF_CTX_SWITCH, 72, 5, ESC, EVBUF_CTX_TGID, 70, ESC, EVBUF_USER_ENTER, 4,
	       0);

	other.app = 6;
	evbuf_context(b, &other);
	evbuf_sample(b, 10, 4, 0, 1);
	(void)evbuf_flush(b);
	EXPECT(&t, ESC, EVBUF_CTX_SWITCH, 72, 6, ESC, EVBUF_CTX_TGID, 70, ESC, EVBUF_COOKIE_SWITCH,
	       10, 4, 0);
	evbuf_free(b);
}

static void cgroups_are_written_where_there_are_any(void)
{
	struct evbuf_context other = first;
	struct taken t = { .count = 0 };
	struct evbuf *b = evbuf_new(256, take, &t);

	other.cgroup = 33;
	evbuf_context(b, &first);
	evbuf_sample(b, 9, 0x1000, 0, 1);
	(void)evbuf_flush(b);
	t.count = 0;
	evbuf_context(b, &other);
	evbuf_sample(b, 9, 0x1000, 0, 1);
	evbuf_context(b, &other);
	evbuf_sample(b, 9, 0x1004, 0, 1);
	(void)evbuf_flush(b);
	EXPECT(&t, ESC, EVBUF_CTX_CGROUP, 33, 0x1000, 0, 0x1004, 0);
	evbuf_free(b);
}

static void context_that_goes_and_comes_back_costs_nothing(void)
{
	struct evbuf_context other = first;
	struct taken t = { .count = 0 };
	struct evbuf *b = evbuf_new(256, take, &t);

	evbuf_context(b, &first);
	evbuf_kernel_sample(b, 7, 0, 1);
	(void)evbuf_flush(b);
	t.count = 0;
	other.tgid = 1;
	evbuf_context(b, &other);
	evbuf_context(b, &first);
	evbuf_kernel_sample(b, 8, 0, 1);
	(void)evbuf_flush(b);
	EXPECT(&t, 8, 0);
	evbuf_free(b);
}

static void weight_precedes_only_its_own_sample(void)
{
	struct taken t = { .count = 0 };
	struct evbuf *b = evbuf_new(256, take, &t);

	evbuf_kernel_sample(b, 7, 0, 12);
	evbuf_kernel_sample(b, 7, 0, 1);
	evbuf_code(b, EVBUF_MODULE_LOADED);
	evbuf_kernel_code(b, 0x1000, 0x20, 5);
	(void)evbuf_flush(b);
	EXPECT(&t, ESC, EVBUF_KERNEL_ENTER, ESC, EVBUF_WEIGHT, 12, 7, 0, 7, 0, ESC,
	       EVBUF_MODULE_LOADED, ESC, EVBUF_KERNEL_CODE, 0x1000, 0x20, 5);
	evbuf_free(b);
}

static void names_of_generated_code_come_in_parts(void)
{
	static const char name[] =
		"int com.acme.Shop.sell(com.acme.Shop$Cart, java.lang.String, int)";
	const struct evbuf_generated code = { 0x1000, 0x20, name };
	struct taken t = { .count = 0 };
	struct evbuf *b = evbuf_new(256, take, &t);
	char parts[2 * EVBUF_NAME_PART];

	CHECK(strlen(name) > EVBUF_NAME_PART);
	evbuf_generated(b, 7, &code);
	(void)evbuf_flush(b);
	CHECK_EQ(t.count, 2 * 10 + 5);
	CHECK_EQ(t.words[1], EVBUF_NAME);
	CHECK_EQ(t.words[11], EVBUF_NAME);
	memcpy(parts, &t.words[2], EVBUF_NAME_PART);
	memcpy(parts + EVBUF_NAME_PART, &t.words[12], EVBUF_NAME_PART);
	CHECK_STR(parts, name);
	CHECK_EQ(t.words[20], ESC);
	CHECK_EQ(t.words[21], EVBUF_GENERATED);
	CHECK_EQ(t.words[22], 7);
	CHECK_EQ(t.words[23], 0x1000);
	CHECK_EQ(t.words[24], 0x20);
	evbuf_free(b);
}

static void no_offset_reads_as_an_escape(void)
{
	struct taken t = { .count = 0 };
	struct evbuf *b = evbuf_new(256, take, &t);

	evbuf_kernel_sample(b, UINT64_MAX, 0, 1);
	(void)evbuf_flush(b);
	EXPECT(&t, ESC, EVBUF_KERNEL_ENTER, UINT64_MAX - 1, 0);
	evbuf_free(b);
}

/* A small buffer is handed over when the next record might not fit, never in the middle of one. */
static void full_buffer_is_handed_over_in_whole_records(void)
{
	struct taken t = { .count = 0 };
	struct evbuf *b = evbuf_new(64, take, &t);
	struct evbuf_context c = first;
	size_t i;

	for (i = 0; i < 20; i++) {
		size_t had = t.count;

		c.tid = (uint32_t)i;
		evbuf_context(b, &c);
		evbuf_sample(b, 1, i, 0, 1);
		if (t.count > had)
			CHECK_EQ(t.words[t.count - 2], i - 1);
	}
	CHECK(t.calls > 1);
	(void)evbuf_flush(b);
	CHECK_EQ(t.words[t.count - 2], 19);
	evbuf_free(b);
}

static void failing_sink_is_called_once(void)
{
	struct taken t = { .answer = -ENOSPC };
	struct evbuf *b = evbuf_new(64, take, &t);

	evbuf_kernel_sample(b, 7, 0, 1);
	CHECK_EQ(evbuf_flush(b), -ENOSPC);
	CHECK_EQ(evbuf_flush(b), 0);
	evbuf_free(b);
}

static void a_chain_is_between_begin_and_end(void)
{
	const struct evbuf_frame frames[] = {
		{ EVBUF_KERNEL, 0xffffffff81000010 }, { 9, 0x20 }, { 9, 0x30 }, { 10, 0x40 }
	};
	struct taken t = { .count = 0 };
	struct evbuf *b = evbuf_new(256, take, &t);

	evbuf_context(b, &first);
	evbuf_sample(b, 9, 0x1000, 0, 1);
	(void)evbuf_flush(b);
	t.count = 0;
	evbuf_context(b, &(struct evbuf_context){ .cpu = 3, .tgid = 70, .tid = 71, .app = 5 });
	evbuf_chain(b, frames, 0, &(struct evbuf_trace){ 1, 1, CHAIN_END_COMPLETE });
	CHECK_EQ(evbuf_flush(b), 0);
	CHECK_EQ(t.count, 0);
	evbuf_chain(b, frames, ARRAY_SIZE(frames),
		    &(struct evbuf_trace){ 1, 7, CHAIN_END_COPY_SHORT });
	CHECK_EQ(evbuf_flush(b), 0);
	EXPECT(&t, ESC, EVBUF_CPU_SWITCH, 3, ESC, EVBUF_TRACE_BEGIN, ESC, EVBUF_KERNEL_ENTER, ESC,
	       EVBUF_WEIGHT, 7, 0xffffffff81000010, 1, ESC, EVBUF_USER_ENTER, 0x20, 1, 0x30, 1, ESC,
	       EVBUF_COOKIE_SWITCH, 10, 0x40, 1, ESC, EVBUF_CHAIN_END, CHAIN_END_COPY_SHORT, ESC,
	       EVBUF_TRACE_END);
	evbuf_free(b);
}

static void callers_have_a_number(void)
{
	const struct evbuf_frame frames[] = { { 9, 0x10 },
					      { EVBUF_KERNEL, 0xffffffff81000010 },
					      { 9, 0x30 } };
	struct taken t = { .count = 0 };
	struct evbuf *b = evbuf_new(256, take, &t);

	evbuf_context(b, &first);
	evbuf_sample(b, 9, 0x1000, 0, 1);
	(void)evbuf_flush(b);
	t.count = 0;
	evbuf_callers(b, 12, frames + 1, 2, CHAIN_END_DEPTH);
	(void)evbuf_flush(b);
	EXPECT(&t, ESC, EVBUF_CALLERS, 12, CHAIN_END_DEPTH, 2, ESC, EVBUF_CALLER, EVBUF_KERNEL,
	       0xffffffff81000010, ESC, EVBUF_CALLER, 9, 0x30);
	t.count = 0;
	evbuf_called(b, frames, 12, &(struct evbuf_trace){ .counter = 1, .weight = 7 });
	CHECK_EQ(evbuf_flush(b), 0);
	EXPECT(&t, ESC, EVBUF_TRACE_BEGIN, ESC, EVBUF_WEIGHT, 7, 0x10, 1, ESC, EVBUF_CALLED_BY, 12);
	evbuf_free(b);
}

static void a_chain_is_cut_where_it_is_too_long(void)
{
	static struct evbuf_frame frames[EVBUF_FRAMES_MAX + 5];

	struct taken t = { .count = 0 };
	struct evbuf *b;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(frames); i++)
		frames[i] = (struct evbuf_frame){ 9, i };
	/* The sink takes little and the buffer holds less: the rest is only counted. */
	t.answer = -EIO;
	b = evbuf_new(64, take, &t);
	evbuf_context(b, &first);
	evbuf_chain(b, frames, ARRAY_SIZE(frames), &(struct evbuf_trace){ 0, 1, 0 });
	CHECK_EQ(evbuf_flush(b), -EIO);
	CHECK_EQ(t.offered, 17 + 2 * EVBUF_FRAMES_MAX + 5);
	CHECK(t.calls > 2);
	evbuf_free(b);

	t.answer = 0;
	b = evbuf_new(512, take, &t);
	evbuf_context(b, &first);
	evbuf_chain(b, frames, 3, &(struct evbuf_trace){ 0, 1, CHAIN_END_DEPTH });
	CHECK_EQ(evbuf_flush(b), 0);
	CHECK_EQ(t.words[t.count - 3], CHAIN_END_DEPTH);
	evbuf_free(b);
}

/* A chain of weight 7, spelled out or by the number of its callers. */
static void a_chain_cut_short_counts_once(void)
{
	static const struct evbuf_frame frames[EVBUF_FRAMES_MAX + 1];
	static const struct {
		const char *what;
		size_t frames; /* 0: by the number of its callers */
		enum chain_end end;
		uint64_t cut;
	} rows[] = {
		{ "spelled out, complete", 2, CHAIN_END_COMPLETE, 0 },
		{ "spelled out, as deep as asked for", 2, CHAIN_END_DEPTH, 0 },
		{ "spelled out, cut", 2, CHAIN_END_NO_TABLE, 7 },
		{ "too long for what ends it to be said", EVBUF_FRAMES_MAX + 1, CHAIN_END_NO_TABLE,
		  0 },
		{ "by number, complete", 0, CHAIN_END_COMPLETE, 0 },
		{ "by number, cut", 0, CHAIN_END_NO_TABLE, 7 },
		{ "by number, as deep as asked for", 0, CHAIN_END_DEPTH, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct evbuf_trace trace = { .weight = 7, .end = rows[i].end };
		struct taken t = { .answer = -EIO }; /* the words are not looked at */
		struct evbuf *b = evbuf_new(64, take, &t);

		if (rows[i].frames)
			evbuf_chain(b, frames, rows[i].frames, &trace);
		else
			evbuf_called(b, frames, 1, &trace);
		if (!CHECK(evbuf_cut_chains(b) == rows[i].cut))
			printf("# %s: %" PRIu64 "\n", rows[i].what, evbuf_cut_chains(b));
		evbuf_free(b);
	}
}

static void every_end_has_a_name_of_its_own(void)
{
	uint64_t i, k;

	for (i = 0; i < CHAIN_END_COUNT_; i++)
		for (k = 0; k < i; k++)
			CHECK(strcmp(chain_end_name(i), chain_end_name(k)));
	CHECK_STR(chain_end_name(CHAIN_END_COMPLETE), "complete");
	CHECK_STR(chain_end_name(1000), "unknown");
}

TESTS(T(first_sample_says_everything), T(cgroups_are_written_where_there_are_any),
      T(only_what_differs_is_written), T(context_that_goes_and_comes_back_costs_nothing),
      T(weight_precedes_only_its_own_sample), T(names_of_generated_code_come_in_parts),
      T(no_offset_reads_as_an_escape), T(full_buffer_is_handed_over_in_whole_records),
      T(failing_sink_is_called_once), T(a_chain_is_between_begin_and_end), T(callers_have_a_number),
      T(a_chain_is_cut_where_it_is_too_long), T(a_chain_cut_short_counts_once),
      T(every_end_has_a_name_of_its_own))
