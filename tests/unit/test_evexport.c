/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The event buffer as foreign readers get it, and the outlet that it leaves the daemon by. */
#include "test.h"

#include "base/strbuf.h"
#include "identity/cookie.h"
#include "stream/evbuf.h"
#include "oprofilefs/evexport.h"
#include "collect/stream_outlet.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

enum { ROOM = 4096 };

static int to_export(const uint64_t *words, size_t count, void *data)
{
	evexport_put(data, words, count);
	return 0;
}

/* The words of one read, in hexadecimal, an escape as "E". */
static const char *one_read(struct evexport *e, size_t room)
{
	static char text[65536];
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	uint64_t words[ROOM];
	size_t i, n;

	evexport_restart(e);
	n = evexport_take(e, words, room);
	CHECK(n <= room);
	for (i = 0; i < n; i++)
		if (words[i] == EVBUF_ESCAPE)
			strbuf_adds(&b, i ? " E" : "E");
		else
			strbuf_addf(&b, "%s%" PRIx64, i ? " " : "", words[i]);
	(void)snprintf(text, sizeof(text), "%s", strbuf_text(&b));
	return text;
}

struct fixture {
	struct evexport *export;
	struct evbuf *buffer;
};

static void fixture_init(struct fixture *f)
{
	const struct evexport_config config = { .counters = { 0, 3 }, .counter_count = 2 };

	f->export = evexport_new(&config);
	f->buffer = evbuf_new(1024, to_export, f->export);
	evbuf_context(f->buffer,
		      &(struct evbuf_context){ .cpu = 1, .tgid = 0x64, .tid = 0x65, .app = 0x10 });
}

static void fixture_done(struct fixture *f)
{
	evbuf_free(f->buffer);
	evexport_free(f->export);
}

#define CPU  "E 2 1"
#define TASK " E 1 65 10 E 7 64"

static void samples_are_as_many_as_they_weigh(void)
{
	struct fixture f;

	fixture_init(&f);
	evbuf_sample(f.buffer, 0x20, 0x1000, 0, 1);
	evbuf_sample(f.buffer, 0x20, 0x1008, 1, 3);
	evbuf_kernel_sample(f.buffer, 0xffff, 0, 2);
	evbuf_sample(f.buffer, 0x20, 0x1010, 7, 9); /* of no counter that anybody knows */
	evbuf_flush(f.buffer);
	CHECK_STR(one_read(f.export, ROOM),
		  CPU " E 5" TASK " E 3 20 1000 0 1008 3 1008 3 1008 3 E 4 ffff 0 ffff 0");
	CHECK_STR(one_read(f.export, ROOM), "");
	fixture_done(&f);
}

static void every_read_is_independent(void)
{
	struct fixture f;

	fixture_init(&f);
	evbuf_sample(f.buffer, 0x20, 0x1000, 0, 1000);
	evbuf_flush(f.buffer);
	/* 10 words of context, 5 of place, and room kept for a frame: 21 samples. */
	CHECK(!strncmp(one_read(f.export, EVEXPORT_READ_MIN), CPU " E 5" TASK " E 3 20 1000 0",
		       strlen(CPU " E 5" TASK " E 3 20 1000 0")));
	CHECK(!strncmp(one_read(f.export, EVEXPORT_READ_MIN), CPU " E 5" TASK " E 3 20 1000 0",
		       strlen(CPU " E 5" TASK " E 3 20 1000 0")));
	CHECK(evexport_ready(f.export));
	fixture_done(&f);
}

/* Samples in all reads of @room words. */
static size_t samples_left(struct evexport *e, size_t room)
{
	const char *text, *at;
	size_t samples = 0;

	while (*(text = one_read(e, room)))
		for (at = text; (at = strstr(at, "1000 0")); at++)
			samples++;
	return samples;
}

static void no_sample_is_lost_between_reads(void)
{
	struct fixture f;
	size_t room;

	for (room = EVEXPORT_READ_MIN; room < EVEXPORT_READ_MIN + 9; room++) {
		fixture_init(&f);
		evbuf_sample(f.buffer, 0x20, 0x1000, 0, 777);
		evbuf_flush(f.buffer);
		CHECK_EQ(samples_left(f.export, room), 777);
		fixture_done(&f);
	}
}

static void chains_begin_and_end_as_of_old(void)
{
	static const struct evbuf_frame frames[] = { { EVBUF_KERNEL, 0xffff },
						     { 0x20, 0x1128 },
						     { 0x10, 0x1540 } };
	struct fixture f;

	fixture_init(&f);
	evbuf_chain(f.buffer, frames, 3, &(struct evbuf_trace){ 1, 2, CHAIN_END_COMPLETE });
	evbuf_chain(f.buffer, frames + 1, 1, &(struct evbuf_trace){ 0, 1, CHAIN_END_DEPTH });
	evbuf_sample(f.buffer, 0x20, 0x1000, 0, 1);
	evbuf_flush(f.buffer);
	CHECK_STR(one_read(f.export, ROOM),
		  CPU " E 8 E 4" TASK " ffff 3 E 5 E 3 20 1128 3 E 3 10 1540 3"
		      " E 8 E 4 ffff 3 E 5 E 3 20 1128 3 E 3 10 1540 3"
		      " E 8 E 3 20 1128 0 E 8 1000 0");
	fixture_done(&f);
}

static void callers_by_number_are_said(void)
{
	static const struct evbuf_frame frames[] = { { EVBUF_KERNEL, 0xffff }, { 0x10, 0x1540 } };
	const struct evbuf_frame leaf = { EVBUF_KERNEL, 0xfff0 };
	struct fixture f;

	fixture_init(&f);
	evbuf_callers(f.buffer, 12, frames, 2, CHAIN_END_COMPLETE);
	evbuf_called(f.buffer, &leaf, 12, &(struct evbuf_trace){ 1, 2, CHAIN_END_COMPLETE });
	evbuf_called(f.buffer, &leaf, 13, &(struct evbuf_trace){ 0, 1, CHAIN_END_COMPLETE });
	evbuf_flush(f.buffer);
	CHECK_STR(one_read(f.export, ROOM), CPU " E 8 E 4" TASK " fff0 3 ffff 3 E 5 E 3 10 1540 3"
						" E 8 E 4 fff0 3 ffff 3 E 5 1540 3 E 8 E 4 fff0 0");
	fixture_done(&f);
}

static void chains_that_do_not_fit_are_cut_short(void)
{
	struct evbuf_frame frames[200];
	struct fixture f;
	size_t i;

	fixture_init(&f);
	for (i = 0; i < ARRAY_SIZE(frames); i++)
		frames[i] = (struct evbuf_frame){ 0x20 + i, i };
	evbuf_chain(f.buffer, frames, 200, &(struct evbuf_trace){ 0, 1, CHAIN_END_COMPLETE });
	evbuf_flush(f.buffer);
	CHECK(!strncmp(one_read(f.export, EVEXPORT_READ_MIN),
		       CPU " E 8 E 5" TASK " E 3 20 0 0 E 3 21",
		       strlen(CPU " E 8 E 5" TASK " E 3 20 0 0 E 3 21")));
	CHECK_STR(one_read(f.export, EVEXPORT_READ_MIN), "");
	fixture_done(&f);
}

static void words_may_come_one_by_one(void)
{
	const struct evexport_config config = { .counter_count = 1 };
	static const uint64_t words[] = { EVBUF_ESCAPE,
					  2,
					  1,
					  EVBUF_ESCAPE,
					  1,
					  0x65,
					  0x10,
					  EVBUF_ESCAPE,
					  7,
					  0x64,
					  EVBUF_ESCAPE,
					  5,
					  EVBUF_ESCAPE,
					  34,
					  9,
					  EVBUF_ESCAPE,
					  3,
					  0x20,
					  EVBUF_ESCAPE,
					  8,
					  EVBUF_ESCAPE,
					  32,
					  2,
					  0x1000,
					  0,
					  0x1010,
					  0,
					  EVBUF_ESCAPE,
					  33,
					  0,
					  EVBUF_ESCAPE,
					  9 };
	_cleanup_(evexport_freep) struct evexport *e = evexport_new(&config);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		CHECK_STR(one_read(e, ROOM), "");
		evexport_put(e, &words[i], 1);
	}
	CHECK_STR(one_read(e, ROOM), CPU " E 8 E 5" TASK " E 3 20 1000 0 1010 0 E 8 1000 0 1010 0");
}

static void features_keep_their_words(void)
{
	uint64_t words[7] = { 0, 2, 3, 4, 5, 6, 7 };
	struct fixture f;

	fixture_init(&f);
	evbuf_code(f.buffer, EVBUF_MODULE_LOADED);
	evbuf_words_at(f.buffer, EVBUF_IBS_FETCH, &(struct evbuf_frame){ 0x20, 0x1400 }, words, 7);
	evbuf_flush(f.buffer);
	CHECK_STR(one_read(f.export, ROOM), "E 6 " CPU " E 5" TASK " E 3 20 E d 1400 2 3 4 5 6 7");
	fixture_done(&f);
}

/* --- the outlet --- */

static size_t words_at(int fd)
{
	uint64_t words[8192];
	ssize_t n = recv(fd, words, sizeof(words), MSG_DONTWAIT);

	return n < 0 ? 0 : (size_t)n / sizeof(*words);
}

/* An outlet of @room words with @watershed; *@ret_end is the reader's end. */
static struct stream_outlet *outlet_of(size_t room, size_t watershed, int *ret_end)
{
	const struct stream_outlet_config config = { .room = room, .watershed = watershed };
	int ends[2];

	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	*ret_end = ends[1];
	return stream_outlet_new(ends[0], &config);
}

static void outlet_waits_for_its_watershed(void)
{
	static const uint64_t words[100];
	struct stream_outlet *o;
	int end;

	/* As the kernel driver's: at the size less the watershed, while samples come. */
	o = outlet_of(1000, 850, &end);
	(void)stream_outlet_words(words, 100, o);
	CHECK_EQ(stream_outlet_send(o, false), 0);
	CHECK_EQ(words_at(end), 0);
	(void)stream_outlet_words(words, 100, o);
	CHECK_EQ(words_at(end), 150);
	CHECK_EQ(stream_outlet_send(o, false), 0);
	CHECK_EQ(words_at(end), 0);
	(void)stream_outlet_words(words, 10, o);
	CHECK_EQ(stream_outlet_send(o, true), 0);
	CHECK_EQ(words_at(end), 60);
	CHECK(!stream_outlet_gone(o));
	(void)close(end);
	CHECK(stream_outlet_gone(o));
	(void)stream_outlet_words(words, 10, o);
	CHECK_EQ(stream_outlet_send(o, true), -EPIPE);
	stream_outlet_free(o);
}

static void what_a_slow_reader_loses_is_counted(void)
{
	static uint64_t words[1000];
	uint64_t put = 0, got = 0, n;
	struct stream_outlet *o;
	int end, i;

	o = outlet_of(4000, 3999, &end);
	for (i = 0; i < 1000; i++) {
		(void)stream_outlet_words(words, 1000, o);
		put += 1000;
		(void)stream_outlet_send(o, false);
	}
	CHECK(stream_outlet_lost(o) > 0);
	/* All that was not lost comes, in the order of syncs. */
	do {
		n = words_at(end);
		got += n;
		(void)stream_outlet_send(o, true);
	} while (n);
	CHECK_EQ(got + stream_outlet_lost(o), put);
	(void)close(end);
	stream_outlet_free(o);
}

static void a_sync_that_was_begun_badly_is_dropped_to_its_end(void)
{
	static const uint64_t words[60];
	struct stream_outlet *o;
	uint64_t lost;
	int end;

	o = outlet_of(100, 0, &end);
	while (!stream_outlet_lost(o))
		(void)stream_outlet_words(words, 60, o);
	while (words_at(end))
		continue;
	lost = stream_outlet_lost(o);
	(void)stream_outlet_words(words, 10, o);
	CHECK_EQ(stream_outlet_lost(o), lost + 10);
	CHECK_EQ(stream_outlet_send(o, true), 0);
	CHECK_EQ(words_at(end), 100);
	(void)stream_outlet_words(words, 10, o);
	CHECK_EQ(stream_outlet_lost(o), lost + 10);
	CHECK_EQ(stream_outlet_send(o, true), 0);
	CHECK_EQ(words_at(end), 10);
	(void)close(end);
	stream_outlet_free(o);
}

static int to_outlet(const uint64_t *words, size_t count, void *data)
{
	return stream_outlet_words(words, count, data);
}

/* The export of what has come at @end. */
static const char *read_at(int end, size_t room)
{
	const struct evexport_config config = { .counters = { 0 }, .counter_count = 1 };
	_cleanup_(evexport_freep) struct evexport *e = evexport_new(&config);
	uint64_t words[1024];
	ssize_t n = recv(end, words, sizeof(words), MSG_DONTWAIT);

	CHECK(n > 0);
	evexport_put(e, words, (size_t)n / sizeof(*words));
	return one_read(e, room);
}

/* Anonymous memory and kernel threads as the kernel driver wrote them. */
static void memory_without_a_file_is_at_its_address(void)
{
	struct cookie_table *t = cookie_table_new();
	uint64_t file = cookie_file(t, &(struct file_identity){ 1, 2, 0 }, "/bin/p");
	uint64_t anon = cookie_anon(t, 0x64, 0x7000, 0x9000, "anon");
	uint64_t thread = cookie_thread(t, "kswapd0");
	const struct stream_outlet_config config = { .room = 1000, .cookies = t };
	const struct evbuf_frame frames[] = { { anon, 0x10 }, { file, 0x20 }, { anon, 0x30 } };
	uint64_t ibs[7] = { 0, 2, 3, 4, 5, 6, 7 };
	struct stream_outlet *o;
	struct evbuf *b;
	int ends[2];

	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	o = stream_outlet_new(ends[0], &config);
	b = evbuf_new(256, to_outlet, o);
	evbuf_context(b, &(struct evbuf_context){ .cpu = 1, .tgid = 7, .tid = 7, .app = file });
	evbuf_sample(b, anon, 0x40, 0, 1);
	evbuf_kernel_sample(b, 0x50, 0, 1);
	evbuf_sample(b, anon, 0x60, 0, 1);
	evbuf_sample(b, file, 0x60, 0, 1);
	evbuf_words_at(b, EVBUF_IBS_FETCH, &(struct evbuf_frame){ anon, 0x80 }, ibs, 7);
	evbuf_callers(b, 3, frames, 3, CHAIN_END_COMPLETE);
	evbuf_called(b, &frames[0], 3, &(struct evbuf_trace){ 0, 1, CHAIN_END_COMPLETE });
	evbuf_context(b, &(struct evbuf_context){ .cpu = 1, .tgid = 8, .tid = 8, .app = thread });
	evbuf_kernel_sample(b, 0x70, 0, 1);
	evbuf_flush(b);
	(void)stream_outlet_send(o, true);
	CHECK_STR(read_at(ends[1], ROOM),
		  "E 2 1 E 5 E 1 7 1 E 7 7 E 3 0 7040 0 E 4 50 0 E 5 7060 0 E 3 1 60 0"
		  " E 3 0 E d 7080 2 3 4 5 6 7"
		  " E 8 7010 0 7010 0 E 3 1 20 0 E 3 0 7030 0"
		  " E 8 E 4 E 1 8 0 E 7 8 70 0");
	evbuf_free(b);
	stream_outlet_free(o);
	(void)close(ends[1]);
	cookie_table_free(t);
}

TESTS(T(samples_are_as_many_as_they_weigh), T(every_read_is_independent),
      T(no_sample_is_lost_between_reads), T(chains_begin_and_end_as_of_old),
      T(callers_by_number_are_said), T(chains_that_do_not_fit_are_cut_short),
      T(words_may_come_one_by_one), T(features_keep_their_words), T(outlet_waits_for_its_watershed),
      T(what_a_slow_reader_loses_is_counted), T(a_sync_that_was_begun_badly_is_dropped_to_its_end),
      T(memory_without_a_file_is_at_its_address))
