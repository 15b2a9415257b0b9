/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call chains that are rolled up, added up, folded and deleted. */
#include "chain_past.h"

#include "history/history_check.h"

static void sums_stay_exact_while_levels_change(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour;

	for (hour = 0; hour < 24 * 8 + 8; hour++) {
		write_hour(&p, 15 * MINUTE);
		if (hour % 8 == 5 || hour >= 24 * 8)
			(void)upkeep(&p, 0, 0);
		if (hour % 24 == 5) {
			check_sums(&p);
			check_window(&p, p.now_ms - 2 * HOUR, p.now_ms - HOUR - 20 * MINUTE);
			check_window(&p, p.now_ms - 30 * HOUR, p.now_ms - 3 * HOUR);
			check_window(&p, BEGIN_MS + MINUTE, BEGIN_MS + HOUR + MINUTE);
		}
	}
	check_sums(&p);
	/* Those that were written last, and one that is kept longer than in the flat history. */
	CHECK_EQ(files_of(&p, "nodes."), 3);
	CHECK_EQ(files_of(&p, "slices."), 3);
	CHECK_EQ(files_of(&p, "names."), 3);
	CHECK_EQ(files_of(&p, "chain.1."), 26);
	CHECK_EQ(files_of(&p, "chain.2."), 8);
	CHECK_EQ(files_of(&p, "chain.3."), 1);
	CHECK_EQ(files_of(&p, "sum."), 1);
	CHECK_EQ(files_of(&p, "roll"), 0);
	CHECK(!history_check(dir, &history_chains, NULL));
}

/* The hour is not over: the flat history has slices of ten seconds, and so have the chains. */
static void a_window_has_the_finest_level_there_is(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour;
	int64_t at;

	for (hour = 0; hour < 30; hour++) {
		write_hour(&p, MINUTE);
		(void)upkeep(&p, 0, 0);
	}
	for (at = p.now_ms - HOUR; at < p.now_ms; at += MINUTE)
		check_window(&p, at, at + 1);
	for (at = BEGIN_MS + MINUTE; at < BEGIN_MS + 28 * HOUR; at += 37 * MINUTE)
		check_window(&p, at, at + 11 * MINUTE);
}

/* A machine with many CPUs begins many pairs in an hour. As soon as there are some, they become a
 * smaller file with the same slices; that is all that remains of them. */
static void many_pairs_become_one_file_with_the_same_slices(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int pair;
	int64_t at;

	for (pair = 1; pair <= 11; pair++) {
		write_time(&p, 5 * MINUTE, MINUTE);
		(void)upkeep(&p, 0, 0);
		CHECK(files_of(&p, "nodes.") < 4);
		CHECK_EQ(files_of(&p, "slices."), files_of(&p, "nodes."));
		CHECK_EQ(files_of(&p, "chain.0."), pair / 4);
		check_sums(&p);
	}
	for (at = BEGIN_MS; at < p.now_ms; at += MINUTE)
		check_window(&p, at, at + 1);
	CHECK(!history_check(dir, &history_chains, NULL));
	/* The hour is over: its segment is made of both kinds of sources. */
	write_time(&p, 5 * MINUTE, MINUTE);
	write_hour(&p, MINUTE);
	(void)upkeep(&p, 0, 0);
	CHECK_EQ(files_of(&p, "chain.1."), 2);
	check_sums(&p);
	for (at = BEGIN_MS; at < p.now_ms; at += MINUTE)
		check_window(&p, at, at + 1);
	p.now_ms += 2 * HOUR;
	(void)upkeep(&p, 0, 0);
	CHECK_EQ(files_of(&p, "chain.0."), 0);
	CHECK_EQ(files_of(&p, "nodes."), 1);
	check_sums(&p);
}

/* Hides a pair, or shows it again. */
static void hide(const struct past *p, unsigned int pair, bool hidden)
{
	static const char *const names[] = { "nodes", "slices", "places", "names" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *here = xasprintf("%s/chains/%s.%u", p->dir, names[i], pair),
				    *there = xasprintf("%s/%s.%u", p->dir, names[i], pair);

		CHECK_EQ(hidden ? rename(here, there) : rename(there, here), 0);
	}
}

/* As after an error when the first one was to be rolled up, and after the clock was set back: pairs
 * of one hour are before and after those of another. */
static void a_segment_does_not_span_pairs_that_another_one_has(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int pair, first = chain_history_next(dir);

	for (pair = 0; pair < 8; pair++) {
		p.now_ms += pair == 1 ? -HOUR : pair == 5 ? HOUR : 0;
		write_time(&p, 5 * MINUTE, MINUTE);
		if (pair == 7)
			hide(&p, first, false);
		(void)upkeep(&p, 0, 0);
		if (pair == 0)
			hide(&p, first, true);
		CHECK_EQ(files_of(&p, "chain.0."), pair >= 4);
	}
	CHECK_EQ(read_whole(dir, &WINDOW_ALL), p.all);
}

/* --- loss --- */

/* The samples of pairs whose nodes are missing; 0: there are none. */
static uint64_t lost(const struct past *p, const struct window *window, bool *ret_damaged)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	struct chain_skipped skipped;
	struct chain_damage damage;

	CHECK_EQ(chain_reader_open(p->dir, window, &r, NULL), 0);
	skipped = chain_reader_skipped(r);
	chain_reader_check(r, &damage);
	CHECK_EQ(damage.any, skipped.is_damaged);
	CHECK_EQ(damage.lost, skipped.lost);
	*ret_damaged = damage.any;
	return damage.lost;
}

static void remove_file(const struct past *p, const char *name, unsigned int pair)
{
	_cleanup_free_ char *path = xasprintf("%s/chains/%s.%u", p->dir, name, pair);

	CHECK_EQ(unlink(path), 0);
}

static void a_pair_without_nodes_is_lost(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	const unsigned int first = chain_history_next(dir);
	const struct window hour = { BEGIN_MS, BEGIN_MS + HOUR };
	const struct window next = { BEGIN_MS + HOUR, BEGIN_MS + 2 * HOUR };
	struct upkeep how = { .chains = &history_chains, .chains_live = first + 2 };
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	uint64_t before;
	bool is_damaged;

	write_hour(&p, MINUTE);
	before = p.all;
	write_hour(&p, MINUTE);
	CHECK_EQ(lost(&p, NULL, &is_damaged), 0);
	CHECK(!is_damaged);
	remove_file(&p, "nodes", first);
	CHECK_EQ(lost(&p, NULL, &is_damaged), before);
	CHECK(is_damaged);
	CHECK_EQ(lost(&p, &next, &is_damaged), 0);
	CHECK(!is_damaged);
	CHECK_EQ(chain_reader_open(dir, &hour, &(struct chain_reader *){ NULL }, NULL), -EBADMSG);
	how.now_ms = p.now_ms;
	how.live = p.generation + 1;
	CHECK(history_upkeep(dir, &how, &log) >= 0);
	CHECK(strstr(strbuf_text(&log), " is missing: what it had is lost\n"));
	CHECK_EQ(lost(&p, NULL, &is_damaged), 0);
	write_hour(&p, MINUTE);
	write_hour(&p, MINUTE);
	remove_file(&p, "nodes", first + 2);
	/* Its number is not used again: the slices would be those of other nodes. */
	remove_file(&p, "nodes", first + 3);
	CHECK_EQ(chain_history_next(dir), first + 4);
}

static void an_interrupted_removal_is_no_loss(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	const unsigned int first = chain_history_next(dir);
	bool is_damaged;

	write_hour(&p, MINUTE);
	write_hour(&p, MINUTE);
	(void)upkeep(&p, 0, 0);
	CHECK_EQ(files_of(&p, "sum."), 1);
	CHECK_EQ(files_of(&p, "nodes."), 2);
	remove_file(&p, "nodes", first);
	CHECK_EQ(lost(&p, NULL, &is_damaged), 0);
	CHECK(!is_damaged);
	CHECK_EQ(read_chains(dir, NULL, NULL).all, p.all);
}

/* --- folding --- */

static void what_is_rare_is_folded_and_counted(void)
{
	enum { RARE = 50 };
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	const struct window *const windows[] = { NULL, &WINDOW_ALL };
	size_t i;

	write_rare(&p, RARE);
	for (i = 0; i < ARRAY_SIZE(windows); i++)
		CHECK_EQ(read_chains(dir, windows[i], NULL).rare, 0);
	(void)upkeep(&p, 0, 0);
	p.now_ms += 3 * HOUR;
	(void)upkeep(&p, 0, 0);
	CHECK_EQ(files_of(&p, "nodes."), 0);
	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		struct sums s = read_chains(dir, windows[i], "/[other programs]");

		CHECK_EQ(s.all, 100000000 + 2 * RARE);
		CHECK_EQ(s.rare, 2 * RARE);
		CHECK_EQ(s.below_main, RARE);
		CHECK_EQ(s.of_app, RARE);
		CHECK_EQ(read_chains(dir, windows[i], "/usr/bin/hot").of_app, 100000000 + RARE);
	}
}

static void what_is_rare_is_counted_for_its_function_if_that_is_not(void)
{
	static const struct history_functions functions = { open_functions, close_functions };
	enum { RARE = 150 };
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS, .functions = &functions };
	const struct window *const windows[] = { NULL, &WINDOW_ALL };
	struct sums s;
	size_t i;

	write_rare(&p, RARE);
	(void)upkeep(&p, 0, 0);
	p.now_ms += 3 * HOUR;
	(void)upkeep(&p, 0, 0);
	for (i = 0; i < ARRAY_SIZE(windows); i++) {
		s = read_chains(dir, windows[i], "/usr/bin/hot");
		CHECK_EQ(s.all, 100000000 + 2 * RARE);
		CHECK_EQ(s.of_app, 100000000 + RARE);
		CHECK_EQ(s.of_functions, RARE);
		CHECK_EQ(s.rare, RARE);
	}
	/* The next level keeps less: one in 200,000. */
	for (i = 0; i < 2; i++) {
		p.now_ms += 24 * HOUR;
		(void)upkeep(&p, 0, 0);
	}
	s = read_chains(dir, &WINDOW_ALL, "/usr/bin/hot");
	CHECK_EQ(s.of_app, 100000000 + RARE);
	CHECK_EQ(s.of_functions, 0);
	CHECK_EQ(s.rare, 2 * RARE);
	CHECK_EQ(read_chains(dir, NULL, NULL).of_functions, RARE);
	CHECK(!history_check(dir, &history_chains, NULL));
}

/* --- deletion --- */

static void old_files_are_deleted_but_not_their_sum(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour;

	for (hour = 0; hour < 24 * 5; hour++) {
		write_hour(&p, 20 * MINUTE);
		if (hour % 6 == 5)
			(void)upkeep(&p, 0, 2 * 24 * HOUR);
	}
	CHECK_EQ(read_chains(dir, NULL, NULL).all, p.all);
	CHECK_EQ(read_chains(dir, &(struct window){ BEGIN_MS, BEGIN_MS + HOUR }, NULL).all, 0);
	CHECK(read_chains(dir, &WINDOW_ALL, NULL).all < p.all * 4 / 5);
	CHECK(read_chains(dir, &WINDOW_ALL, NULL).all > p.all / 5);
}

/* Whatever --max-history is, the chains are not of longer slices than the flat counts. */
static void the_largest_history_has_all_kinds(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	uint64_t bytes;
	unsigned int hour;

	for (hour = 0; hour < 72; hour++) {
		write_hour(&p, 10 * MINUTE);
		if (hour % 6 == 5)
			(void)upkeep(&p, 0, 0);
	}
	for (bytes = bytes_of(&p); bytes > 1000; bytes -= bytes / 5) {
		(void)upkeep(&p, bytes, 0);
		CHECK(bytes_of(&p) <= bytes);
		if (read_chains(dir, &WINDOW_ALL, NULL).all == p.all)
			check_window(&p, p.now_ms - 5 * HOUR + MINUTE, p.now_ms - 5 * HOUR + 1);
	}
	CHECK_EQ(read_chains(dir, NULL, NULL).all, p.all);
}

/* --- names --- */

static void lines_say_all_about_a_name(void)
{
	const struct sname_image images[] = {
		{ .kind = SNAME_ROOT, .name = "/bin/a\tb" },
		{ .kind = SNAME_KERN, .name = "vmlinux" },
		{ .kind = SNAME_ANON, .name = "anon", .tgid = 7, .start = 16, .end = 32 },
	};
	_cleanup_(chain_names_closep) struct chain_names *n = chain_names_new(),
							 *there = chain_names_new();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(images); i++) {
		_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
		struct chain_context c = { .event = "A\\.1.2",
					   .end = "depth",
					   .task = { 1, 2, -1, i ? "/a\tb" : NULL } };
		uint32_t context = 0, app = 0;

		CHECK_EQ(chain_names_image(n, &images[i], i == 1, &c.app, NULL), 0);
		CHECK_EQ(chain_names_context(n, &c, &context, NULL), 0);
		chain_names_put_context(n, context, &line);
		CHECK_EQ(chain_names_take(there, line.text, &app, &context), 0);
		CHECK_EQ(app, 0);
		CHECK_EQ(context, i + 1);
		c.app = chain_names_context_at(there, context)->app;
		CHECK(sname_image_equal(chain_names_image_at(there, c.app), &images[i]));
		CHECK_EQ(chain_names_is_kernel(there, c.app), i == 1);
		CHECK(sname_task_equal(&chain_names_context_at(there, context)->task, &c.task));
		CHECK_STR(chain_names_context_at(there, context)->event, "A\\.1.2");
	}
}

TESTS(T(sums_stay_exact_while_levels_change), T(a_window_has_the_finest_level_there_is),
      T(many_pairs_become_one_file_with_the_same_slices),
      T(a_segment_does_not_span_pairs_that_another_one_has), T(a_pair_without_nodes_is_lost),
      T(an_interrupted_removal_is_no_loss), T(what_is_rare_is_folded_and_counted),
      T(what_is_rare_is_counted_for_its_function_if_that_is_not),
      T(old_files_are_deleted_but_not_their_sum), T(the_largest_history_has_all_kinds),
      T(lines_say_all_about_a_name))
