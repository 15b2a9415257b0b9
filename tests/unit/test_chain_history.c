/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call chains that are rolled up, added up and deleted. */
#include "test.h"

#include "chains/chain_history.h"
#include "chains/chain_merge.h"
#include "chains/chain_read.h"
#include "history/history.h"
#include "history/history_check.h"
#include "history/history_writer.h"
#include "history/levels.h"
#include "history/history_source.h"
#include "history/upkeep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROGRAMS = 5, SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

/* A midnight; the clock of these tests is not that of the machine. */
#define BEGIN_MS INT64_C(1767225600000)

struct past {
	char *dir;
	int64_t now_ms;
	uint32_t generation;
	uint64_t counted[PROGRAMS], all;
	const struct history_functions *functions;
};

/* Adds a chain of @count frames in a program. */
static void add(struct chain_store *s, const char *program, const uint64_t *offsets, size_t count,
		uint64_t samples)
{
	const struct sname_image image = { .kind = SNAME_ROOT, .name = program };
	struct chain_context context = { .event = "TIMER.0.0",
					 .end = "complete",
					 .task = SNAME_TASK_ALL };
	struct chain_frame frames[8];
	uint32_t id = 0;
	size_t i;

	CHECK(chain_store_turn(s, NULL) >= 0);
	CHECK_EQ(chain_store_image(s, &image, false, &context.app, NULL), 0);
	CHECK_EQ(chain_store_context(s, &context, &id, NULL), 0);
	for (i = 0; i < count; i++)
		frames[i] = (struct chain_frame){ context.app, offsets[i] };
	CHECK_EQ(chain_store_add(s, id, &(struct chain){ frames, count, samples }, NULL), 0);
}

/* Sets the time when the files of the newest pair and generation were written. */
static void set_time(const struct past *p)
{
	const struct timespec at[] = { { p->now_ms / 1000, 0 }, { p->now_ms / 1000, 0 } };
	uint32_t pair = chain_history_next(p->dir) - 1;
	char *const paths[] = { xasprintf("%s/history/%u.slices", p->dir, p->generation),
				xasprintf("%s/chains/slices.%u", p->dir, pair),
				xasprintf("%s/chains/nodes.%u", p->dir, pair) };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		(void)utimensat(AT_FDCWD, paths[i], at, 0);
		free(paths[i]);
	}
}

static void count(struct past *p, struct chain_store *s, struct history_writer *h,
		  unsigned int program, uint64_t key)
{
	_cleanup_free_ char *path = xasprintf("/usr/bin/%u", program);
	struct history_name name = { .name = { .event = "TIMER", .task = SNAME_TASK_ALL } };
	uint64_t samples = 1 + key % 7;

	name.name.app = name.name.image = (struct sname_image){ .kind = SNAME_ROOT, .name = path };
	history_writer_count(h, history_writer_file(h, &name), key, samples);
	add(s, path, (const uint64_t[]){ key, 1 + key % 3, 7 }, 3, samples);
	p->counted[program] += samples;
	p->all += samples;
}

/* Writes both histories for a time, with a slice each @step_ms, by a writer of its own. */
static void write_time(struct past *p, int64_t length_ms, int64_t step_ms)
{
	_cleanup_(history_writer_freep) struct history_writer *h = history_writer_new(p->dir);
	struct chain_store *s = NULL;
	int64_t at;

	CHECK_EQ(chain_store_open_sliced(p->dir, &s, NULL), 0);
	for (at = p->now_ms; at < p->now_ms + length_ms; at += step_ms) {
		struct slice slice = { { at, at + 10 * SECOND }, .samples = 10, .taken = 10 };

		count(p, s, h, (unsigned int)(at / step_ms) % PROGRAMS,
		      (uint64_t)(at / step_ms) % 40);
		count(p, s, h, (unsigned int)(at / HOUR) % PROGRAMS, 7);
		CHECK_EQ(history_writer_end(h, &slice, NULL), 0);
		CHECK_EQ(chain_store_end_slice(s, &slice, NULL), 0);
	}
	p->generation = history_writer_generation(h);
	p->now_ms += length_ms;
	chain_store_close(s);
	set_time(p);
}

static void write_hour(struct past *p, int64_t step_ms)
{
	write_time(p, HOUR, step_ms);
}

/* Writes an hour of a machine that fills several pairs in it. */
static void write_busy_hour(struct past *p)
{
	unsigned int pair;

	for (pair = 0; pair < 5; pair++)
		write_time(p, 12 * MINUTE, 12 * MINUTE);
}

static int upkeep(const struct past *p, uint64_t bytes_max, uint64_t keep_ms)
{
	const struct upkeep how = { .now_ms = p->now_ms,
				    .bytes_max = bytes_max,
				    .keep_ms = keep_ms,
				    .live = p->generation + 1,
				    .chains = &history_chains,
				    .functions = p->functions,
				    .chains_live = chain_history_next(p->dir) };
	_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;
	int n = history_upkeep(p->dir, &how, &log);

	if (!bytes_max)
		CHECK_STR(strbuf_text(&log), "");
	return n;
}

/* What chains were read: all samples, and those of one application. */
struct sums {
	const struct chain_names *names;
	const char *app;
	uint64_t all, of_app, rare, below_main, of_functions;
};

static int take(uint32_t context, const struct chain *chain, void *data)
{
	struct sums *s = data;
	const struct chain_context *c = chain_names_context_at(s->names, context);

	s->all += chain->samples;
	if (s->app && !strcmp(chain_names_image_at(s->names, c->app)->name, s->app))
		s->of_app += chain->samples;
	if (chain->is_function) {
		s->of_functions += chain->samples;
		CHECK_EQ(chain->frames[0].offset, 0x1000);
		CHECK_EQ(chain->frames[1].offset, 1);
	}
	if (chain->frames[0].offset == HISTORY_RARE) {
		s->rare += chain->samples;
		if (chain->count == 2 && chain->frames[1].offset == 1)
			s->below_main += chain->samples;
	}
	return 0;
}

static struct sums read_chains(const char *dir, const struct window *window, const char *app)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	struct sums s = { .app = app };
	int status = chain_reader_open(dir, window, &r, NULL);

	if (status == -ENOENT)
		return s;
	CHECK_EQ(status, 0);
	s.names = chain_reader_names(r);
	CHECK_EQ(chain_reader_each(r, take, &s), 0);
	CHECK_EQ(chain_reader_folded(r), s.rare);
	CHECK_EQ(chain_reader_skipped(r).bytes + chain_reader_skipped(r).samples, 0);
	return s;
}

/* All samples of the chains, whatever is skipped. */
static uint64_t read_whole(const char *dir, const struct window *window)
{
	_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
	struct sums s = { 0 };

	CHECK_EQ(chain_reader_open(dir, window, &r, NULL), 0);
	s.names = chain_reader_names(r);
	CHECK_EQ(chain_reader_each(r, take, &s), 0);
	return s.all;
}

static uint64_t flat_samples(const struct history *h)
{
	uint64_t sum = 0;
	size_t i, k;

	for (i = 0; i < history_files(h); i++)
		for (k = 0; k < history_file_at(h, i)->count; k++)
			sum += history_file_at(h, i)->counts[k].count;
	return sum;
}

/* The chains of a window are those of the slices that the flat history takes for it. */
static void check_window(const struct past *p, int64_t begin_ms, int64_t end_ms)
{
	_cleanup_(history_freep) struct history *h = NULL;
	struct sums s;

	CHECK_EQ(history_read(p->dir, &(struct window){ begin_ms, end_ms }, NULL, &h, NULL), 0);
	s = read_chains(p->dir, &history_covers(h)->span, NULL);
	CHECK_EQ(s.all, flat_samples(h));
}

static void check_sums(const struct past *p)
{
	unsigned int i;

	for (i = 0; i < PROGRAMS; i++) {
		_cleanup_free_ char *path = xasprintf("/usr/bin/%u", i);

		CHECK_EQ(read_chains(p->dir, &WINDOW_ALL, path).of_app, p->counted[i]);
		CHECK_EQ(read_chains(p->dir, NULL, path).of_app, p->counted[i]);
	}
	CHECK_EQ(read_chains(p->dir, NULL, NULL).all, p->all);
}

/* How many files of the store there are whose names begin with @prefix. */
static unsigned int files_of(const struct past *p, const char *prefix)
{
	_cleanup_free_ char *path = path_join(p->dir, CHAIN_DIRECTORY);
	DIR *d = opendir(path);
	struct dirent *e;
	unsigned int n = 0;

	while ((e = readdir(d)))
		n += strncmp(e->d_name, prefix, strlen(prefix)) == 0;
	(void)closedir(d);
	return n;
}

static uint64_t bytes_of(const struct past *p)
{
	static const struct history_kind *const kinds[] = { &history_flat, &history_chains };
	struct history_kept kept[HISTORY_LEVELS];
	uint64_t sum = 0;
	size_t i, level;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		history_kept(p->dir, kinds[i], kept);
		for (level = 0; level < HISTORY_LEVELS; level++)
			sum += kept[level].bytes;
	}
	return sum;
}

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
	CHECK(!history_check(dir, &history_chains));
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
	CHECK(!history_check(dir, &history_chains));
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

/* --- folding --- */

/* A program with a hot chain and @rare leaves that main called once each; and as many others that
 * are sampled once. */
static void write_rare(struct past *p, unsigned int rare)
{
	struct chain_store *s = NULL;
	const struct slice slice = { { p->now_ms, p->now_ms + 10 * SECOND } };
	unsigned int i;

	CHECK_EQ(chain_store_open_sliced(p->dir, &s, NULL), 0);
	add(s, "/usr/bin/hot", (const uint64_t[]){ 0x100, 1 }, 2, 100000000);
	for (i = 0; i < rare; i++) {
		_cleanup_free_ char *other = xasprintf("/tmp/%u", i);

		add(s, "/usr/bin/hot", (const uint64_t[]){ 0x1000 + i, 1 }, 2, 1);
		add(s, other, (const uint64_t[]){ 5, 6 }, 2, 1);
	}
	CHECK_EQ(chain_store_end_slice(s, &slice, NULL), 0);
	chain_store_close(s);
	p->now_ms += HOUR;
	set_time(p);
}

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

/* Functions of a page each, of one image. */
static const void *functions_of(void *data, const char *line)
{
	return strstr(line, "/usr/bin/hot") ? data : NULL;
}

static bool start_of(const void *functions, uint64_t key, uint64_t *ret)
{
	*ret = key & ~UINT64_C(0xfff);
	return functions != NULL;
}

static void open_functions(const char *samples, struct segment_functions *f)
{
	*f = (struct segment_functions){ functions_of, start_of, xstrdup(samples) };
}

static void close_functions(struct segment_functions *f)
{
	free(f->data);
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
	CHECK(!history_check(dir, &history_chains));
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

/* --- interruptions --- */

static unsigned int kill_upkeep(const struct past *p, unsigned int times)
{
	unsigned int killed = 0, i;

	for (i = 0; i < times; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			(void)upkeep(p, 0, 0);
			_exit(0);
		}
		(void)usleep((useconds_t)(rand() % 5000));
		(void)kill(pid, SIGKILL);
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		killed += WIFSIGNALED(status);
		CHECK_EQ(read_chains(p->dir, NULL, NULL).all, p->all);
		CHECK_EQ(read_chains(p->dir, &WINDOW_ALL, NULL).all, p->all);
	}
	return killed;
}

static void a_kill_at_any_time_changes_no_sum(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour, killed = 0;

	for (hour = 0; hour < 24 * 3; hour++) {
		if (hour % 3)
			write_hour(&p, 20 * MINUTE);
		else
			write_busy_hour(&p);
		/* Much is due at once after some hours, as after a pause. */
		if (hour % 16 == 15)
			killed += kill_upkeep(&p, 16);
	}
	CHECK(killed > 0);
	(void)upkeep(&p, 0, 0);
	check_sums(&p);
	CHECK_EQ(files_of(&p, "roll"), 0);
	CHECK_EQ(files_of(&p, "sum."), 1);
}

/* A reader may read while files are rolled up and deleted. */
static void readers_always_see_the_whole(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour;
	pid_t pid;
	int status = 0;

	for (hour = 0; hour < 20; hour++) {
		write_hour(&p, 20 * MINUTE);
		write_busy_hour(&p);
	}
	pid = fork();
	if (pid == 0) {
		for (hour = 0; hour < 40; hour++) {
			(void)upkeep(&p, 0, 0);
			p.now_ms += HOUR;
		}
		_exit(0);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		CHECK_EQ(read_chains(dir, NULL, NULL).all, p.all);
		CHECK_EQ(read_chains(dir, &WINDOW_ALL, NULL).all, p.all);
	}
	CHECK_EQ(status, 0);
}

/* A full disk in the middle of the upkeep: no file may be longer than some bytes. */
static void a_full_disk_changes_no_sum(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	struct rlimit most = { 0, RLIM_INFINITY };
	struct upkeep how = { .chains = &history_chains };
	unsigned int failed = 0;

	(void)signal(SIGXFSZ, SIG_IGN);
	write_busy_hour(&p);
	write_hour(&p, 20 * MINUTE);
	p.now_ms += 3 * HOUR;
	how.now_ms = p.now_ms;
	how.live = p.generation + 1;
	how.chains_live = chain_history_next(p.dir);
	for (most.rlim_cur = 0; most.rlim_cur < 4096; most.rlim_cur += 64) {
		_cleanup_(strbuf_done) struct strbuf log = STRBUF_INIT;

		CHECK_EQ(setrlimit(RLIMIT_FSIZE, &most), 0);
		failed += history_upkeep(p.dir, &how, &log) == -EFBIG;
		CHECK_EQ(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY }),
			 0);
		check_sums(&p);
	}
	CHECK(failed > 3);
	(void)upkeep(&p, 0, 0);
	CHECK_EQ(files_of(&p, "nodes."), 0);
	CHECK_EQ(files_of(&p, "roll"), 0);
	check_sums(&p);
}

/* What a killed writer counted since its last slice is in no slice, but in the sum. */
static void what_is_in_no_slice_is_in_the_sum(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	struct chain_store *s = NULL;

	write_hour(&p, 20 * MINUTE);
	CHECK_EQ(chain_store_open_sliced(dir, &s, NULL), 0);
	add(s, "/bin/killed", (const uint64_t[]){ 1 }, 1, 1000);
	chain_store_close(s);
	set_time(&p);
	(void)upkeep(&p, 0, 0);
	p.now_ms += 5 * HOUR;
	(void)upkeep(&p, 0, 0);
	CHECK_EQ(files_of(&p, "slices."), 0);
	CHECK_EQ(read_chains(dir, NULL, NULL).all, p.all + 1000);
	CHECK_EQ(read_chains(dir, &WINDOW_ALL, NULL).all, p.all);
	/* The next writer's chains are added, whatever it continues. */
	CHECK_EQ(chain_store_open(dir, &s, NULL), 0);
	add(s, "/bin/next", (const uint64_t[]){ 1 }, 1, 5);
	chain_store_close(s);
	CHECK_EQ(read_chains(dir, NULL, NULL).all, p.all + 1005);
}

/* --- damage --- */

/* The power was cut before the first page of the newest pair reached the disk. */
static void a_pair_without_a_header_costs_only_itself(void)
{
	static const char *const files[] = { "nodes", "places" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_directory_ char *dir = test_directory();
		struct past p = { .dir = dir, .now_ms = BEGIN_MS };
		_cleanup_free_ char *path = NULL;
		uint64_t before;
		int fd;

		write_hour(&p, 20 * MINUTE);
		before = p.all;
		write_hour(&p, 20 * MINUTE);
		path = xasprintf("%s/chains/%s.%u", dir, files[i], chain_history_next(dir) - 1);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		CHECK_EQ(pwrite(fd, (const char[4096]){ 0 }, 4096, 0), 4096);
		(void)close(fd);
		CHECK_EQ(read_whole(dir, NULL), before);
		CHECK_EQ(read_whole(dir, &WINDOW_ALL), before);
	}
}

static void a_repair_keeps_the_history(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour;

	for (hour = 0; hour < 30; hour++) {
		write_hour(&p, 20 * MINUTE);
		if (hour != 29)
			(void)upkeep(&p, 0, 0);
	}
	CHECK_EQ(chain_repair(dir, NULL), 0);
	check_sums(&p);
	check_window(&p, BEGIN_MS, BEGIN_MS + 5 * MINUTE);
	CHECK_EQ(chain_repair(dir, NULL), 0);
	(void)upkeep(&p, 0, 0);
	check_sums(&p);
}

static void a_repair_counts_nothing_twice_without_a_sum(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	_cleanup_free_ char *chains = path_join(dir, CHAIN_DIRECTORY), *sum = NULL;
	uint32_t last = 0;

	write_hour(&p, 20 * MINUTE);
	write_hour(&p, 20 * MINUTE);
	(void)upkeep(&p, 0, 0);
	CHECK(files_of(&p, "chain.1.") > 0);
	CHECK(sources_sum(chains, &last));
	sum = source_sum_path(chains, last);
	CHECK_EQ(unlink(sum), 0);
	check_sums(&p);
	CHECK_EQ(chain_repair(dir, NULL), 0);
	check_sums(&p);
}

/* Damages each byte of the file whose name begins with @prefix, and reads. */
static void damage(const struct past *p, const char *prefix, const struct window *window)
{
	_cleanup_free_ char *chains = path_join(p->dir, CHAIN_DIRECTORY), *path = NULL;
	_cleanup_close_ int fd = -1;
	DIR *d = opendir(chains);
	struct dirent *e;
	uint8_t byte, other;
	struct stat st;
	off_t at;

	while ((e = readdir(d)) && !path)
		if (!strncmp(e->d_name, prefix, strlen(prefix)))
			path = path_join(chains, e->d_name);
	(void)closedir(d);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK_EQ(fstat(fd, &st), 0);
	for (at = 0; at < st.st_size; at += 1 + st.st_size / 300) {
		_cleanup_(chain_reader_closep) struct chain_reader *r = NULL;
		struct sums s = { 0 };

		CHECK_EQ(pread(fd, &byte, 1, at), 1);
		other = byte ^ 0x10;
		CHECK_EQ(pwrite(fd, &other, 1, at), 1);
		if (chain_reader_open(p->dir, window, &r, NULL) == 0) {
			s.names = chain_reader_names(r);
			CHECK_EQ(chain_reader_each(r, take, &s), 0);
			CHECK(s.all == p->all || chain_reader_skipped(r).bytes > 0);
			CHECK(s.all <= p->all);
		}
		CHECK_EQ(pwrite(fd, &byte, 1, at), 1);
	}
	CHECK_EQ(read_chains(p->dir, window, NULL).all, p->all);
}

static void damage_is_skipped_and_counted(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct past p = { .dir = dir, .now_ms = BEGIN_MS };
	unsigned int hour;

	for (hour = 0; hour < 3; hour++)
		write_hour(&p, 10 * MINUTE);
	(void)upkeep(&p, 0, 0);
	p.now_ms += 4 * HOUR;
	(void)upkeep(&p, 0, 0);
	CHECK_EQ(files_of(&p, "nodes."), 0);
	damage(&p, "sum.", NULL);
	damage(&p, "chain.1.", &WINDOW_ALL);
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
      T(a_segment_does_not_span_pairs_that_another_one_has), T(what_is_rare_is_folded_and_counted),
      T(what_is_rare_is_counted_for_its_function_if_that_is_not),
      T(old_files_are_deleted_but_not_their_sum), T(the_largest_history_has_all_kinds),
      T(a_kill_at_any_time_changes_no_sum), T(readers_always_see_the_whole),
      T(a_full_disk_changes_no_sum), T(what_is_in_no_slice_is_in_the_sum),
      T(a_repair_keeps_the_history), T(a_repair_counts_nothing_twice_without_a_sum),
      T(damage_is_skipped_and_counted), T(a_pair_without_a_header_costs_only_itself),
      T(lines_say_all_about_a_name))
