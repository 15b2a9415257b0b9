/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each counter of the table moves by one where it should, and no other with it. Those of record do
 * so here; for those of the drivers the test that moves them is named. */
#include "record_bench.h"

#include "driver/perf_cpu.h"
#include "event/evderived.h"
#include "perf/perf_record.h"
#include "stats/counters.h"

/* A case: what is set before the record is made, what is done before the counters are looked at,
 * and what moves the counter. */
struct move {
	const char *counter;
	void (*configure)(struct bench *b);
	void (*prepare)(struct bench *b);
	void (*act)(struct bench *b);
	const char *with[2]; /* counters that move by one with it */
};

static const uint64_t kernel_pc = 0xffffffff81000010;

static uint64_t program(struct bench *b)
{
	return cookie_file(b->cookies, &(struct file_identity){ 1, 1, 0 }, "/bin/p");
}

/* A sample at @cookie of a process that runs /bin/p. */
static void sample_in(struct bench *b, uint64_t cookie, unsigned int counter)
{
	run_as(b, 7, program(b));
	evbuf_sample(b->buffer, cookie, 0x10, counter, 1);
}

static void sample_program(struct bench *b)
{
	sample_in(b, program(b), 0);
}

static void sample_other_counter(struct bench *b)
{
	sample_in(b, program(b), 2);
}

static void sample_unknown_image(struct bench *b)
{
	sample_in(b, 99, 0);
}

static void count_unknown_image(struct bench *b)
{
	sample_in(b, 99, 2); /* the first counter after those of the events is the feature's */
}

static uint64_t anonymous(struct bench *b)
{
	char label[] = "";

	cookie_define(b->cookies,
		      &(struct cookie_image){
			      .cookie = 50, .kind = COOKIE_ANON, .path = label, .end = 0x1000 });
	return 50;
}

static void sample_anonymous(struct bench *b)
{
	sample_in(b, anonymous(b), 0);
}

static void sample_anonymous_of_nobody(struct bench *b)
{
	evbuf_sample(b->buffer, anonymous(b), 0x10, 0, 1);
}

static void sample_kernel(struct bench *b)
{
	run_as(b, 7, program(b));
	evbuf_kernel_sample(b->buffer, kernel_pc, 0, 1);
}

static void sample_kernel_of_nobody(struct bench *b)
{
	evbuf_kernel_sample(b->buffer, kernel_pc, 0, 1);
}

static void put_words(struct bench *b, const uint64_t *words, size_t count)
{
	CHECK_EQ(record_words(words, count, b->rec), 0);
}
#define PUT_WORDS(b, ...)                                                                          \
	put_words((b), (const uint64_t[]){ __VA_ARGS__ },                                          \
		  sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void say_nothing(struct bench *b)
{
	evbuf_code(b->buffer, EVBUF_MODULE_LOADED);
}

static void sample_without_mode(struct bench *b)
{
	PUT_WORDS(b, 0x10, 0);
}

static void sample_hypervisor(struct bench *b)
{
	PUT_WORDS(b, ESC, EVBUF_XEN_ENTER, 0x10, 0);
}

static void sample_without_image(struct bench *b)
{
	PUT_WORDS(b, ESC, EVBUF_USER_ENTER, 0x10, 0);
}

static void say_unknown_code(struct bench *b)
{
	PUT_WORDS(b, ESC, 63);
}

static void put_chain(struct bench *b, uint64_t caller, enum chain_end end)
{
	const struct evbuf_frame frames[] = { { program(b), 0x10 }, { caller, 0x20 } };

	run_as(b, 7, program(b));
	evbuf_chain(b->buffer, frames, 2, &(struct evbuf_trace){ 0, 1, end });
}

static void sample_chain(struct bench *b)
{
	put_chain(b, program(b), CHAIN_END_COMPLETE);
}

static void sample_chain_with_unknown_caller(struct bench *b)
{
	put_chain(b, EVBUF_INVALID_COOKIE, CHAIN_END_COMPLETE);
}

static void block_chain_store(struct bench *b)
{
	_cleanup_free_ char *samples = session_samples(b->session, "current");

	put_file(samples, "chains", "");
}

static void shed_chains(struct bench *b)
{
	sample_chain(b); /* only what there is can be shed */
	CHECK_EQ(evbuf_flush(b->buffer), 0);
	record_shed(b->rec, RECORD_SHED_CHAINS);
}

static void shed_jit(struct bench *b)
{
	record_shed(b->rec, RECORD_SHED_JIT);
}

static void shed_threads(struct bench *b)
{
	record_shed(b->rec, RECORD_SHED_THREADS);
}

static void pause_sampling(struct bench *b)
{
	record_count_pause(b->rec);
}

static void undo_shedding(struct bench *b)
{
	record_count_undone(b->rec);
}

static void look_for_jit(struct bench *b)
{
	b->config.jit = true;
}

static void keep_threads_apart(struct bench *b)
{
	b->config.separate = RECORD_SEPARATE_THREAD;
}

static void select_another_image(struct bench *b)
{
	b->config.images = "/bin/other";
}

static void count_time_off_cpu(struct bench *b)
{
	static const struct evderived offcpu = { .offcpu.total = true };

	b->config.derived = &offcpu;
}

static const struct move moves[] = {
	{ "sample_dumps", .act = say_nothing },
	{ "samples", .act = sample_program },
	{ "kernel_samples", .act = sample_kernel, .with = { "samples" } },
	{ "lost_no_context", .act = sample_without_mode },
	{ "lost_kernel", .act = sample_hypervisor },
	{ "incomplete_code", .act = say_unknown_code },
	{ "lost_samplefile", .act = sample_unknown_image, .with = { "samples" } },
	{ "lost_no_mapping", .act = sample_without_image },
	{ "lost_no_app_for_kernel_sample", .act = sample_kernel_of_nobody },
	{ "lost_no_app_for_user_sample", .act = sample_anonymous_of_nobody },
	{ "lost_counter", .act = sample_other_counter },
	{ "filtered", .configure = select_another_image, .act = sample_program },
	{ "arcs_no_mapping", .act = sample_chain_with_unknown_caller,
	  .with = { "samples", "chain_no_mapping" } },
	{ "chains_lost", .prepare = block_chain_store, .act = sample_chain,
	  .with = { "samples", "chain_complete" } },
	{ "shed_chains", .prepare = shed_chains, .act = sample_chain, .with = { "samples" } },
	{ "shed_jit", .configure = look_for_jit, .prepare = shed_jit, .act = sample_anonymous,
	  .with = { "samples" } },
	{ "shed_threads", .configure = keep_threads_apart, .prepare = shed_threads,
	  .act = sample_program, .with = { "samples" } },
	{ "shed_pauses", .act = pause_sampling },
	{ "shed_undone", .act = undo_shedding },
	{ "extended_lost", .configure = count_time_off_cpu, .act = count_unknown_image },
};

static bool moves_with(const struct move *m, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(m->with) && m->with[i]; i++)
		if (!strcmp(m->with[i], name))
			return true;
	return !strcmp(m->counter, name);
}

/* By how much each counter of record has grown. */
static void check_growth(const struct move *m, const struct record_stats *before,
			 const struct record_stats *after)
{
	const struct counter *c;

	for (size_t i = 0; (c = counter_at(i)); i++) {
		uint64_t grown;

		if (c->source != COUNTER_OF_RECORD && c->source != COUNTER_OF_CHAINS)
			continue;
		/* Every hand-over of words is a dump. */
		if (!strcmp(c->name, "sample_dumps") && strcmp(m->counter, c->name) != 0)
			continue;
		grown = counter_value(c, NULL, after) - counter_value(c, NULL, before);
		if (!CHECK(grown == moves_with(m, c->name)))
			printf("# case %s: %s moved by %" PRIu64 "\n", m->counter, c->name, grown);
	}
}

static void check_move(const struct move *m)
{
	BENCH(b);
	struct record_stats before, after;

	if (m->configure)
		m->configure(&b);
	bench_start(&b);
	if (m->prepare)
		m->prepare(&b);
	before = stats_of(&b);
	m->act(&b);
	after = stats_of(&b);
	check_growth(m, &before, &after);
}

static void each_counter_of_record_moves_by_one(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(moves); i++)
		check_move(&moves[i]);
}

static void each_end_of_a_chain_moves_its_counter(void)
{
	for (uint64_t end = 0; end < CHAIN_END_COUNT_; end++) {
		BENCH(b);
		_cleanup_free_ char *name = xasprintf("chain_%s", chain_end_name(end));
		const struct move m = { name, .with = { "samples" } };
		struct record_stats before, after;

		bench_start(&b);
		before = stats_of(&b);
		put_chain(&b, program(&b), end);
		after = stats_of(&b);
		check_growth(&m, &before, &after);
	}
}

static void throttling_is_counted_with_its_time(void)
{
	struct perf_source source = { .id = 5 };
	struct perf_cpu cpu = { .sources = &source, .source_count = 1 };
	struct driver_stats stats = { 0 };
	struct perf_record r = { .type = PERF_RECORD_THROTTLE, .id = 5, .time_ns = 100 };

	perf_cpu_notice(&cpu, &r, &stats);
	CHECK_EQ(stats.throttled, 1);
	CHECK_EQ(stats.throttled_ns, 0);
	r = (struct perf_record){ .type = PERF_RECORD_UNTHROTTLE, .id = 5, .time_ns = 101 };
	perf_cpu_notice(&cpu, &r, &stats);
	CHECK_EQ(stats.throttled, 1);
	CHECK_EQ(stats.throttled_ns, 1);
}

/* The tests that move the other counters, or balance them against the samples where they move
 * by chance: the function, NULL in a script. */
static const struct {
	const char *counter, *file, *test;
} moved_in[] = {
	{ "sample_received", "unit/test_stretch.c", "check_weights" },
	{ "sample_stretched", "unit/test_stretch.c", "check_weights" },
	{ "sample_lost_overflow", "unit/test_perf_cpu.c", "totals_of_a_cpu_outlive_it" },
	{ "sample_lost_skipped", "live/skipped.sh", NULL },
	{ "sample_lost_no_mapping", "unit/test_attribution.c",
	  "address_in_no_mapping_is_looked_up_once_more" },
	{ "sample_lost_no_mm", "unit/test_attribution.c",
	  "unknown_process_is_read_when_it_is_sampled" },
	{ "sample_lost_no_tree", "live/truth_mmaps.sh", NULL },
	{ "sample_lost_no_path", "live/chains_full.sh", NULL },
	{ "sample_lost_no_event", "golden/opimport/perf-data-damaged/expect.out", NULL },
	{ "perfdata_stacks", "golden/opimport/perf-data-damaged/expect.out", NULL },
	{ "perfdata_unknown", "golden/opimport/perf-data/expect.out", NULL },
	{ "perfdata_cut", "golden/opimport/perf-data-damaged/expect.out", NULL },
	{ "sample_filtered", "unit/test_attribution.c", "only_the_family_is_kept" },
	{ "sideband_lost", "unit/test_attribution.c", "lost_records_are_made_good_from_proc" },
	{ "sideband_unread", "unit/test_attribution.c", "the_last_turn_is_longer" },
	{ "resync", "unit/test_attribution.c", "lost_records_are_made_good_from_proc" },
	{ "throttled", "unit/test_counters.c", "throttling_is_counted_with_its_time" },
	{ "throttled_ns", "unit/test_counters.c", "throttling_is_counted_with_its_time" },
	{ "ibs_lost", "unit/test_perf_ibs.c", "each_sample_that_cannot_be_used_is_counted" },
	{ "offcpu_intervals", "unit/test_perf_offcpu.c", "see" },
	{ "offcpu_lost", "unit/test_perf_offcpu.c", "see" },
	{ "offcpu_squares", "unit/test_offcpu_stats.c", "each_event_has_its_counter" },
	{ "offcpu_squares_lock", "unit/test_offcpu_stats.c", "each_event_has_its_counter" },
	{ "offcpu_squares_io", "unit/test_offcpu_stats.c", "each_event_has_its_counter" },
	{ "offcpu_squares_sleep", "unit/test_offcpu_stats.c", "each_event_has_its_counter" },
	{ "offcpu_squares_queue", "unit/test_offcpu_stats.c", "each_event_has_its_counter" },
	{ "offcpu_squares_fault", "unit/test_offcpu_stats.c", "each_event_has_its_counter" },
	{ "offcpu_squares_idle", "unit/test_offcpu_stats.c", "each_event_has_its_counter" },
	{ "waited_ns", "unit/test_perf_cpu.c", "an_event_that_waited_says_for_how_long" },
	{ "cpu_hotplug", "unit/test_perf_cpu.c", "cpus_that_come_and_go_are_followed" },
	{ "path_ring_full", "unit/test_sampler_losses.c",
	  "a_path_without_room_in_the_ring_is_counted_and_sent_later" },
	{ "wakes_held", "unit/test_sampler_losses.c", "files_wake_the_reader_now_and_then" },
	{ "path_truncated", "unit/test_sampler_losses.c", "a_path_that_is_cut_short_is_counted" },
	{ "images_swept", "unit/test_attribution.c",
	  "files_that_were_never_sampled_are_forgotten" },
	{ "executables_full", "unit/test_sampler_losses.c",
	  "a_process_without_room_for_its_executable_is_counted" },
	{ "follow_full", "unit/test_sampler_losses.c",
	  "a_child_without_room_in_the_table_is_counted" },
	{ "unwound_frames", "live/chains_bpf.sh", NULL },
	{ "unwound_full", "live/chains_full.sh", NULL },
	{ "functions_kept", "unit/test_functions.c", "a_file_is_kept_once" },
	{ "functions_put_off", "unit/test_functions.c", "what_is_too_much_at_once_is_put_off" },
	{ "functions_failed", "unit/test_functions.c", "what_cannot_be_written_is_counted" },
	{ "functions_evicted", "unit/test_functions.c", "those_not_used_for_longest_go_first" },
	{ "lines_kept", "unit/test_finder.c", "lines_of_the_hottest_functions_are_kept" },
	{ "lines_put_off", "unit/test_finder.c", "lines_of_the_hottest_functions_are_kept" },
	{ "parser_lost", "live/daemon_parser.sh", NULL },
	{ "cost_ns", "unit/test_governor.c", "a_start_is_sampled_as_asked_for" },
	{ "cost_of_ns", "unit/test_governor.c", "a_start_is_sampled_as_asked_for" },
	{ "drains_late", "unit/test_status.c", "the_longest_time_without_a_drain_is_shown" },
	{ "bad_record", "unit/test_attribution_chains.c", "chains_say_why_they_end" },
	{ "jit_dropped", "unit/test_jit_reader.c", "code_that_cannot_be_kept_is_counted" },
	{ "jit_put_off", "unit/test_jit_reader.c", "users_share_memory_and_get_it_back" },
	{ "java_maps", "live/java.sh", NULL },
	{ "java_refused", "live/java.sh", NULL },
	{ "unwind_code_refused", "unit/test_code_store.c", "a_user_has_half_of_what_others_leave" },
	{ "unwind_code_dense", "unit/test_code_store.c", "what_is_not_dense_fits" },
	{ "unwind_built", "unit/test_unwind_cache.c", "each_attempt_is_counted" },
	{ "unwind_build_ns", "unit/test_unwind_cache.c", "each_attempt_is_counted" },
	{ "unwind_none", "unit/test_unwind_cache.c", "each_attempt_is_counted" },
	{ "unwind_unopened", "unit/test_unwind_cache.c", "each_attempt_is_counted" },
	{ "unwind_put_off", "unit/test_unwind_cache.c", "each_attempt_is_counted" },
	{ "unwind_evicted", "unit/test_unwind_cache.c", "the_one_unused_for_longest_goes" },
	{ "python_unknown", "unit/test_table_store.c", "unknown_runtimes_are_counted" },
	{ "php_unknown", "unit/test_table_store.c", "unknown_runtimes_are_counted" },
	{ "ruby_unknown", "unit/test_table_store.c", "unknown_runtimes_are_counted" },
	{ "java_unknown", "unit/test_table_store.c", "unknown_runtimes_are_counted" },
	{ "script_no_thread", "live/python.sh", NULL },
	{ "script_bad_frame", "live/python.sh", NULL },
	{ "script_bad_code", "live/python.sh", NULL },
	{ "script_unreadable", "live/python.sh", NULL },
	{ "script_ring_full", "live/python.sh", NULL },
	{ "script_capped", "unit/test_source_files.c", "functions_beyond_the_limit_share_a_place" },
	{ "script_unnamed", "unit/test_record.c", "source_files_get_images_as_others_are_left" },
	{ "script_swept", "unit/test_record.c", "source_files_get_images_as_others_are_left" },
	{ "script_unwritten", "unit/test_source_files.c", "a_failed_write_is_tried_again" },
	{ "unwind_partial", "unit/test_table_store.c", "a_file_with_too_many_rules_is_counted" },
	{ "unwind_moved_refused", "unit/test_copy_store.c",
	  "what_is_no_copy_makes_room_and_what_has_none_is_counted" },
	{ "maps_unrecorded", "unit/test_attribution.c", "check_moved" },
	{ "unwind_moved_late", "unit/test_copy_store.c", "too_much_at_once_is_counted" },
	{ "unwind_refused", "unit/test_unwind_cache.c",
	  "tables_in_use_stay_and_the_new_one_is_left_out" },
};

/* Whether @text, or in it the body of the function @test, names @counter. */
static bool names_counter(const char *text, const char *test, const char *counter)
{
	_cleanup_free_ char *head = test ? xasprintf(" %s(", test) : NULL;
	const char *from = head ? strstr(text, head) : text;
	const char *to = from && head ? strstr(from, "\n}\n") : NULL;
	_cleanup_free_ char *part = NULL;

	if (!from || (head && !to))
		return false;
	part = xstrndup(from, to ? (size_t)(to - from) : strlen(from));
	return strstr(part, counter) != NULL;
}

static void check_named_test(size_t i)
{
	_cleanup_free_ char *path =
		xasprintf("%s/tests/%s", getenv("OP_SOURCE_ROOT") ?: ".", moved_in[i].file);
	_cleanup_free_ char *text = NULL;

	if (!CHECK(path_read(NULL, path, &text, NULL) > 0 &&
		   names_counter(text, moved_in[i].test, moved_in[i].counter)))
		printf("# %s: not in %s %s\n", moved_in[i].counter, moved_in[i].file,
		       moved_in[i].test ?: "");
}

static size_t cases_of(const char *counter)
{
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(moves); i++)
		n += !strcmp(moves[i].counter, counter);
	for (i = 0; i < ARRAY_SIZE(moved_in); i++)
		n += !strcmp(moved_in[i].counter, counter);
	return n;
}

static void no_counter_is_without_a_case(void)
{
	const struct counter *c;

	for (size_t i = 0; i < ARRAY_SIZE(moved_in); i++)
		check_named_test(i);
	for (size_t i = 0; (c = counter_at(i)); i++)
		if ((c->source == COUNTER_OF_DRIVER || c->source == COUNTER_OF_RECORD) &&
		    !CHECK(cases_of(c->name) == 1))
			printf("# %s: add the test that moves it\n", c->name);
}

/* Its line in the header of a report: the golden case has all of them. */
static void no_loss_is_without_its_line_in_a_report(void)
{
	_cleanup_free_ char *path = path_join(getenv("OP_SOURCE_ROOT") ?: ".",
					      "tests/golden/opreport/losses-each/expect.out");
	_cleanup_free_ char *text = NULL;
	const struct counter *c;

	CHECK(path_read(NULL, path, &text, NULL) > 0);
	for (size_t i = 0; text && (c = counter_at(i)); i++) {
		_cleanup_free_ char *name = xasprintf("[%s]", c->name);
		bool shown = c->kind == COUNTER_LOST || c->kind == COUNTER_TROUBLE;

		if (!CHECK(!!strstr(text, name) == shown))
			printf("# %s: %s golden case opreport/losses-each\n", c->name,
			       shown ? "add it to the" : "not expected in the");
	}
}

/* People read it after the number. */
static void each_counter_has_words(void)
{
	const struct counter *c;

	for (size_t i = 0; (c = counter_at(i)); i++) {
		_cleanup_free_ char *text = counter_text(c, 2), *one = counter_text(c, 1);

		CHECK(*text);
		CHECK(counter_find(c->name) == c);
		CHECK(c->log || c->source == COUNTER_OF_SESSION);
		CHECK(!strncmp(text, "samples lost: ", 14) == (c->kind == COUNTER_LOST));
		CHECK(!strncmp(one, "sample lost: ", 13) == (c->kind == COUNTER_LOST));
	}
	CHECK(!counter_find("chain_"));
}

TESTS(T(each_counter_of_record_moves_by_one), T(each_end_of_a_chain_moves_its_counter),
      T(throttling_is_counted_with_its_time), T(no_counter_is_without_a_case),
      T(no_loss_is_without_its_line_in_a_report), T(each_counter_has_words))
