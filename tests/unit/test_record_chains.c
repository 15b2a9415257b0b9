/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call chains in the event buffer to arcs and the chain store. */
#include "record_bench.h"

#include "history/slice_file.h"

enum { DAY_MS = 24 * 3600 * 1000 };

static void a_chain_makes_arcs_up_to_the_next_context(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");
	uint64_t lib = cookie_file(b.cookies, &(struct file_identity){ 1, 2, 0 }, "/lib/l");

	b.config.separate = RECORD_SEPARATE_KERNEL;
	bench_start(&b);
	run_as(&b, 7, app);
	evbuf_sample(b.buffer, app, 0x1, 0, 1);
	evbuf_code(b.buffer, EVBUF_TRACE_BEGIN);
	evbuf_kernel_sample(b.buffer, 0xffffffff81000010, 0, 3);
	evbuf_sample(b.buffer, lib, 0x20, 0, 1);
	evbuf_sample(b.buffer, 99, 0x30, 0, 1);
	evbuf_sample(b.buffer, lib, 0x40, 0, 1);
	evbuf_sample(b.buffer, app, 0x50, 0, 1);
	evbuf_code(b.buffer, EVBUF_TRACE_END);
	evbuf_sample(b.buffer, app, 0x60, 0, 1);
	CHECK_LISTING(&b, P "{root}/bin/p/" T0 "1 1\n", P "{root}/bin/p/" T0 "60 1\n",
		      P "{root}/proc/kallsyms/" T0 "10 3\n",
		      P "{root}/lib/l/{cg}/{root}/proc/kallsyms/" T0 "2000000010 3\n");
	CHECK_EQ(stats_of(&b).samples, 5);
	CHECK_EQ(stats_of(&b).arcs_no_mapping, 3);
}

struct chain_listing {
	const struct chain_names *names;
	struct strbuf text;
};

static int list_chain(uint32_t number, const struct chain *chain, void *data)
{
	struct chain_listing *l = data;
	const struct chain_context *c = chain_names_context_at(l->names, number);
	size_t i;

	strbuf_addf(&l->text, "%s %s %s %" PRId64 ":", chain_names_image_at(l->names, c->app)->name,
		    c->event, c->end, c->task.tgid);
	for (i = 0; i < chain->count; i++)
		strbuf_addf(&l->text, " %s+%" PRIx64,
			    chain_names_image_at(l->names, chain->frames[i].image)->name,
			    chain->frames[i].offset);
	strbuf_addf(&l->text, " %" PRIu64 "\n", chain->samples);
	return 0;
}

/* The stored chains of @session, one a line, are @expected. */
static void check_chains(struct bench *b, const char *session, const char *expected)
{
	_cleanup_free_ char *samples = session_samples(b->session, session);
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	struct chain_listing l = { .text = STRBUF_INIT };

	CHECK_EQ(evbuf_flush(b->buffer), 0);
	CHECK_EQ(chain_reader_open(samples, NULL, &r, NULL), 0);
	if (!r)
		return;
	l.names = chain_reader_names(r);
	CHECK_EQ(chain_reader_each(r, list_chain, &l), 0);
	CHECK_STR(strbuf_text(&l.text), expected);
	strbuf_done(&l.text);
}

/* A chain is stored with its application and what is separated; a session moved away keeps its
 * own. */
static void whole_chains_are_stored(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");
	uint64_t lib = cookie_file(b.cookies, &(struct file_identity){ 1, 2, 0 }, "/lib/l");
	const struct evbuf_frame frames[] = {
		{ EVBUF_KERNEL, 0xffffffff81000010 }, { lib, 0x20 }, { 99, 0x30 }, { app, 0x40 }
	};

	b.config.separate = RECORD_SEPARATE_THREAD;
	bench_start(&b);
	run_as(&b, 7, app);
	evbuf_chain(b.buffer, frames, 2, &(struct evbuf_trace){ 1, 4, CHAIN_END_COMPLETE });
	evbuf_chain(b.buffer, frames, 4, &(struct evbuf_trace){ 0, 1, CHAIN_END_COMPLETE });
	evbuf_chain(b.buffer, frames + 2, 2, &(struct evbuf_trace){ 0, 1, CHAIN_END_COMPLETE });
	evbuf_sample(b.buffer, app, 0x10, 0, 1);
	check_chains(&b, "current",
		     "/bin/p OTHER.0.0 complete 7: /proc/kallsyms+10 /lib/l+20 4\n"
		     "/bin/p TIMER.0.0 no_mapping 7: /proc/kallsyms+10 /lib/l+20 1\n");
	CHECK_EQ(stats_of(&b).chain_ends[CHAIN_END_COMPLETE], 4);
	CHECK_EQ(stats_of(&b).chain_ends[CHAIN_END_NO_MAPPING], 1);
	CHECK_EQ(record_close_files(b.rec, NULL), 0);
	CHECK_EQ(session_rename(b.session, "current", "saved", NULL), 0);
	run_as(&b, 8, app);
	evbuf_chain(b.buffer, frames + 1, 1, &(struct evbuf_trace){ 0, 1, CHAIN_END_DEPTH });
	check_chains(&b, "current", "/bin/p TIMER.0.0 depth 8: /lib/l+20 1\n");
	check_chains(&b, "saved",
		     "/bin/p OTHER.0.0 complete 7: /proc/kallsyms+10 /lib/l+20 4\n"
		     "/bin/p TIMER.0.0 no_mapping 7: /proc/kallsyms+10 /lib/l+20 1\n");
	CHECK_EQ(stats_of(&b).chains_lost, 0);
}

static void end_slice_at(struct bench *b, int64_t begin_ms)
{
	const struct slice slice = { .span = { begin_ms, begin_ms + 10000 } };

	CHECK_EQ(record_end_slice(b->rec, &slice, NULL), 0);
}

/* Each day begins files in which images and contexts have other numbers. */
static void chains_of_the_next_day_keep_their_names(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");
	uint64_t lib = cookie_file(b.cookies, &(struct file_identity){ 1, 2, 0 }, "/lib/l");
	const struct evbuf_frame frames[] = { { app, 0x10 }, { lib, 0x20 }, { app, 0x30 } };
	int64_t day;

	b.config.keep_ms = 1000000;
	bench_start(&b);
	for (day = 0; day < 3; day++) {
		run_as(&b, 7, day ? lib : app);
		evbuf_chain(b.buffer, frames + day, 1,
			    &(struct evbuf_trace){ 0, 1, CHAIN_END_DEPTH });
		evbuf_chain(b.buffer, frames, 3, &(struct evbuf_trace){ 0, 1, CHAIN_END_DEPTH });
		CHECK_EQ(evbuf_flush(b.buffer), 0);
		end_slice_at(&b, 2 * day * DAY_MS);
		end_slice_at(&b, 2 * day * DAY_MS + DAY_MS); /* on another day: the files end */
	}
	check_chains(&b, "current",
		     "/bin/p TIMER.0.0 depth -1: /bin/p+10 1\n"
		     "/bin/p TIMER.0.0 depth -1: /bin/p+10 /lib/l+20 /bin/p+30 1\n"
		     "/lib/l TIMER.0.0 depth -1: /lib/l+20 1\n"
		     "/lib/l TIMER.0.0 depth -1: /bin/p+10 /lib/l+20 /bin/p+30 1\n"
		     "/lib/l TIMER.0.0 depth -1: /bin/p+30 1\n"
		     "/lib/l TIMER.0.0 depth -1: /bin/p+10 /lib/l+20 /bin/p+30 1\n");
}

static void chains_that_cannot_be_stored_are_counted(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");
	const struct evbuf_frame frames[] = { { app, 0x10 }, { app, 0x20 } };
	_cleanup_free_ char *samples = session_samples(b.session, "current");

	bench_start(&b);
	/* A file is in the place of the store's directory. */
	put_file(samples, "chains", "");
	run_as(&b, 7, app);
	evbuf_chain(b.buffer, frames, 2, &(struct evbuf_trace){ 0, 3, CHAIN_END_COMPLETE });
	evbuf_chain(b.buffer, frames, 1, &(struct evbuf_trace){ 0, 2, CHAIN_END_COMPLETE });
	CHECK_LISTING(&b, "{root}/bin/p/{dep}/{root}/bin/p/" T0 "10 5\n");
	CHECK_EQ(stats_of(&b).samples, 5);
	CHECK_EQ(stats_of(&b).chains_lost, 5);
	CHECK_EQ(stats_of(&b).chain_ends[CHAIN_END_COMPLETE], 5);
	/* The obstacle is gone, and the session starts again. */
	CHECK_EQ(record_close_files(b.rec, NULL), 0);
	CHECK_EQ(session_remove(b.session, "current", NULL), 0);
	run_as(&b, 7, app);
	evbuf_chain(b.buffer, frames, 2, &(struct evbuf_trace){ 0, 1, CHAIN_END_COMPLETE });
	check_chains(&b, "current", "/bin/p TIMER.0.0 complete -1: /bin/p+10 /bin/p+20 1\n");
	CHECK_EQ(stats_of(&b).chains_lost, 5);
}

/* The kernel below a library below a program: the program's cookie. */
static uint64_t start_with_chain(struct bench *b, struct evbuf_frame frames[3])
{
	uint64_t app = cookie_file(b->cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");
	uint64_t lib = cookie_file(b->cookies, &(struct file_identity){ 1, 2, 0 }, "/lib/l");

	frames[0] = (struct evbuf_frame){ EVBUF_KERNEL, 0xffffffff81000010 };
	frames[1] = (struct evbuf_frame){ lib, 0x20 };
	frames[2] = (struct evbuf_frame){ app, 0x30 };
	b->config.separate = RECORD_SEPARATE_KERNEL;
	bench_start(b);
	return app;
}

static void whole_chains_count_by_how_they_end(void)
{
	BENCH(b);
	struct evbuf_frame frames[3];
	uint64_t app = start_with_chain(&b, frames);

	run_as(&b, 7, app);
	evbuf_chain(b.buffer, frames, 3, &(struct evbuf_trace){ 0, 4, CHAIN_END_COMPLETE });
	evbuf_chain(b.buffer, frames + 1, 1, &(struct evbuf_trace){ 0, 1, CHAIN_END_NO_TABLE });
	evbuf_sample(b.buffer, app, 0x1, 0, 1);
	evbuf_code(b.buffer, EVBUF_TRACE_BEGIN);
	evbuf_sample(b.buffer, app, 0x2, 0, 1);
	run_as(&b, 8, app);
	evbuf_sample(b.buffer, app, 0x3, 0, 1);
	CHECK_LISTING(&b, P "{root}/bin/p/" T0 "1 1\n", P "{root}/bin/p/" T0 "2 1\n",
		      P "{root}/bin/p/" T0 "3 1\n", P "{root}/lib/l/" T0 "20 1\n",
		      P "{root}/proc/kallsyms/" T0 "10 4\n",
		      P "{root}/lib/l/{cg}/{root}/proc/kallsyms/" T0 "2000000010 4\n",
		      P "{root}/bin/p/{cg}/{root}/lib/l/" T0 "3000000020 4\n");
	CHECK_EQ(stats_of(&b).samples, 8);
	CHECK_EQ(stats_of(&b).chain_ends[CHAIN_END_COMPLETE], 4);
	CHECK_EQ(stats_of(&b).chain_ends[CHAIN_END_NO_TABLE], 1);
	CHECK_EQ(stats_of(&b).chain_ends[CHAIN_END_UNKNOWN], 1);
}

/* Without an application a chain is its innermost image's, and the kernel is nobody's. */
static void arcs_of_a_process_that_nobody_knows_are_counted(void)
{
	BENCH(b);
	struct evbuf_frame frames[3];

	(void)start_with_chain(&b, frames);
	run_as(&b, 7, EVBUF_NO_COOKIE);
	evbuf_chain(b.buffer, frames, 3, &(struct evbuf_trace){ 0, 4, CHAIN_END_COMPLETE });
	evbuf_chain(b.buffer, frames + 1, 2, &(struct evbuf_trace){ 0, 1, CHAIN_END_COMPLETE });
	CHECK_LISTING(&b, "{root}/lib/l/{dep}/{root}/lib/l/" T0 "20 1\n",
		      "{root}/lib/l/{dep}/{root}/bin/p/{cg}/{root}/lib/l/" T0 "3000000020 1\n");
	CHECK_EQ(stats_of(&b).chain_ends[CHAIN_END_COMPLETE], 1);
	CHECK_EQ(stats_of(&b).arcs_no_mapping, 0);
}

static void arcs_are_in_the_session_that_is_moved_away(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");
	const struct evbuf_frame frames[] = { { app, 0x10 }, { app, 0x20 } };
	_cleanup_free_ char *saved = NULL, *current = NULL;

	bench_start(&b);
	run_as(&b, 7, app);
	evbuf_chain(b.buffer, frames, 2, &(struct evbuf_trace){ 0, 2, CHAIN_END_COMPLETE });
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	CHECK_EQ(record_close_files(b.rec, NULL), 0);
	CHECK_EQ(session_rename(b.session, "current", "saved", NULL), 0);
	evbuf_chain(b.buffer, frames, 2, &(struct evbuf_trace){ 0, 5, CHAIN_END_COMPLETE });
	CHECK_EQ(evbuf_flush(b.buffer), 0);
	evbuf_free(b.buffer);
	record_free(b.rec);
	bench_start(&b);
	saved = listing(&b, "saved");
	current = listing(&b, "current");
	CHECK(strstr(saved, P "{root}/bin/p/{cg}/{root}/bin/p/" T0 "2000000010 2\n"));
	CHECK(strstr(current, P "{root}/bin/p/{cg}/{root}/bin/p/" T0 "2000000010 5\n"));
}

/* Chains whose callers are a number are those that are spelt out, for all applications, also after
 * the session was left, and after the number got other callers. */
static void callers_may_be_a_number(void)
{
	BENCH(b);
	uint64_t app = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");
	uint64_t other = cookie_file(b.cookies, &(struct file_identity){ 1, 2, 0 }, "/bin/q");
	uint64_t lib = cookie_file(b.cookies, &(struct file_identity){ 1, 3, 0 }, "/lib/l");
	const struct evbuf_frame frames[] = {
		{ EVBUF_KERNEL, 0xffffffff81000010 }, { lib, 0x20 }, { app, 0x30 }, { 99, 0x40 }
	};
	const struct evbuf_trace once = { .counter = 0, .weight = 1 };
	uint64_t incomplete;

	b.config.separate = RECORD_SEPARATE_KERNEL;
	bench_start(&b);
	run_as(&b, 7, app);
	evbuf_callers(b.buffer, 3, frames + 1, 2, CHAIN_END_COMPLETE);
	evbuf_called(b.buffer, frames, 3, &(struct evbuf_trace){ .counter = 0, .weight = 4 });
	evbuf_called(b.buffer, frames, 3, &once);
	evbuf_chain(b.buffer, frames, 3, &(struct evbuf_trace){ 0, 1, CHAIN_END_COMPLETE });
	run_as(&b, 8, other);
	evbuf_called(b.buffer, frames, 3, &once);
	evbuf_callers(b.buffer, 4, frames + 2, 2, CHAIN_END_COMPLETE);
	evbuf_called(b.buffer, &(struct evbuf_frame){ lib, 0x50 }, 4, &once);
	CHECK_LISTING(&b, P "{root}/proc/kallsyms/" T0 "10 6\n",
		      "{root}/bin/q/{dep}/{root}/proc/kallsyms/" T0 "10 1\n",
		      "{root}/bin/q/{dep}/{root}/lib/l/" T0 "50 1\n",
		      P "{root}/lib/l/{cg}/{root}/proc/kallsyms/" T0 "2000000010 6\n",
		      P "{root}/bin/p/{cg}/{root}/lib/l/" T0 "3000000020 6\n",
		      "{root}/bin/q/{dep}/{root}/lib/l/{cg}/{root}/proc/kallsyms/" T0
		      "2000000010 1\n",
		      "{root}/bin/q/{dep}/{root}/bin/p/{cg}/{root}/lib/l/" T0 "3000000020 1\n",
		      "{root}/bin/q/{dep}/{root}/bin/p/{cg}/{root}/lib/l/" T0 "3000000050 1\n");
	check_chains(&b, "current",
		     "/bin/p TIMER.0.0 complete -1: /proc/kallsyms+10 /lib/l+20 /bin/p+30 6\n"
		     "/bin/q TIMER.0.0 complete -1: /proc/kallsyms+10 /lib/l+20 /bin/p+30 1\n"
		     "/bin/q TIMER.0.0 no_mapping -1: /lib/l+50 /bin/p+30 1\n");
	CHECK_EQ(stats_of(&b).arcs_no_mapping, 1);

	CHECK_EQ(record_close_files(b.rec, NULL), 0);
	CHECK_EQ(session_remove(b.session, "current", NULL), 0);
	run_as(&b, 7, app);
	evbuf_called(b.buffer, frames, 3, &once);
	evbuf_callers(b.buffer, 3, frames + 2, 1, CHAIN_END_DEPTH);
	evbuf_called(b.buffer, frames, 3, &once);
	check_chains(&b, "current",
		     "/bin/p TIMER.0.0 complete -1: /proc/kallsyms+10 /lib/l+20 /bin/p+30 1\n"
		     "/bin/p TIMER.0.0 depth -1: /proc/kallsyms+10 /bin/p+30 1\n");
	incomplete = stats_of(&b).incomplete_code;
	evbuf_called(b.buffer, frames, 77, &once);
	evbuf_callers(b.buffer, EVBUF_LISTS_MAX, NULL, 0, CHAIN_END_DEPTH);
	evbuf_callers(b.buffer, 5, NULL, 0, CHAIN_END_COUNT_);
	CHECK_EQ(stats_of(&b).incomplete_code, incomplete + 3);
	CHECK_EQ(stats_of(&b).chain_ends[CHAIN_END_UNKNOWN], 1);
}

/* The old kernel driver wrote a change of task after the begin of its first chain. */
static void a_chain_may_begin_before_its_context(void)
{
	BENCH(b);
	uint64_t p = cookie_file(b.cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");
	uint64_t q = cookie_file(b.cookies, &(struct file_identity){ 1, 2, 0 }, "/bin/q");
	const uint64_t words[] = { ESC,
				   EVBUF_CPU_SWITCH,
				   0,
				   ESC,
				   EVBUF_TRACE_BEGIN,
				   ESC,
				   EVBUF_USER_ENTER,
				   ESC,
				   EVBUF_CTX_SWITCH,
				   7,
				   p,
				   ESC,
				   EVBUF_CTX_TGID,
				   7,
				   ESC,
				   EVBUF_COOKIE_SWITCH,
				   p,
				   0x10,
				   0,
				   0x20,
				   0,
				   ESC,
				   EVBUF_TRACE_BEGIN,
				   ESC,
				   EVBUF_CTX_SWITCH,
				   8,
				   q,
				   ESC,
				   EVBUF_CTX_TGID,
				   8,
				   ESC,
				   EVBUF_COOKIE_SWITCH,
				   q,
				   0x30,
				   0,
				   0x40,
				   0,
				   ESC,
				   EVBUF_TRACE_END };

	bench_start(&b);
	CHECK_EQ(record_words(words, ARRAY_SIZE(words), b.rec), 0);
	CHECK_LISTING(&b, P "{root}/bin/p/" T0 "10 1\n",
		      P "{root}/bin/p/{cg}/{root}/bin/p/" T0 "2000000010 1\n",
		      "{root}/bin/q/{dep}/{root}/bin/q/" T0 "30 1\n",
		      "{root}/bin/q/{dep}/{root}/bin/q/{cg}/{root}/bin/q/" T0 "4000000030 1\n");
	CHECK_EQ(stats_of(&b).samples, 2);
}

TESTS(T(a_chain_makes_arcs_up_to_the_next_context), T(whole_chains_count_by_how_they_end),
      T(arcs_of_a_process_that_nobody_knows_are_counted),
      T(arcs_are_in_the_session_that_is_moved_away), T(callers_may_be_a_number),
      T(whole_chains_are_stored), T(chains_of_the_next_day_keep_their_names),
      T(a_chain_may_begin_before_its_context), T(chains_that_cannot_be_stored_are_counted))
