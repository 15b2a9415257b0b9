/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "killed.h"

#include "collect/internal/cut_functions.h"

#include "base/error.h"
#include "chains/chain.h"
#include "chains/chain_history.h"
#include "chains/chain_store.h"
#include "history/history_writer.h"
#include "history/upkeep.h"
#include "history/window.h"
#include "sfile/idle.h"
#include "sfile/manifest.h"
#include "sfile/odb.h"
#include "sfile/session.h"
#include "sfile/sfile.h"
#include "symbol/function_file.h"
#include "symbol/function_store.h"
#include "symbol/functions.h"
#include "symbol/symtab.h"
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

/* A program has many functions, of SIZE bytes each, from START on. */
enum { FUNCTIONS = 2000, START = 0x1000, SIZE = 0x100, DAY_S = 86400 };

static const char key[] = "0123456789abcdef0123", other_key[] = "0123456789abcdef4567";
static const char program[] = "/bin/prog";
static const char below[] = "{root}/bin/prog/{dep}/{root}/bin/prog/TIMER.0.0.all.all.all";

static uint64_t place(unsigned int function, unsigned int at)
{
	return START + SIZE * (uint64_t)function + at;
}

/* Puts the table of a program into symbols/, used last @days days ago. */
static void keep_table_of(const char *dir, const char *program_key, unsigned int days)
{
	_cleanup_(function_store_freep) struct function_store *s = function_store_new(dir, 1 << 24);
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();
	_cleanup_free_ char *path = xasprintf("%s/symbols/%s", dir, program_key),
			    *bytes = xmalloc(1 << 20);
	const struct timespec times[2] = { { time(NULL) - DAY_S * (time_t)days, 0 },
					   { time(NULL) - DAY_S * (time_t)days, 0 } };
	unsigned int i;
	ssize_t n;

	for (i = 0; i < FUNCTIONS; i++) {
		char *name = xasprintf("f%u_%x", i, i * 2654435761u);

		symtab_hold(st, name, free);
		symtab_add(st, &(struct symbol){ .offset = place(i, 0),
						 .end = place(i + 1, 0),
						 .address = place(i, 0),
						 .name = name });
	}
	symtab_settle(st);
	n = functions_pack(st, bytes, 1 << 20);
	function_store_put(s, program_key, &(struct function_table){ bytes, (size_t)n, 0 });
	CHECK_EQ(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void keep_table(const char *dir, unsigned int days)
{
	keep_table_of(dir, key, days);
}

/* The numbers of the functions in the table; the caller frees. */
static char *table_of_key(const char *dir, const char *program_key)
{
	_cleanup_free_ char *path = xasprintf("%s/symbols/%s", dir, program_key);
	_cleanup_(symtab_freep) struct symtab *st = NULL;
	struct strbuf text = STRBUF_INIT;
	size_t i;

	if (function_file_read(path, "", &st, NULL) < 0)
		return xstrdup("damaged");
	if (symtab_count(st) == FUNCTIONS)
		return xstrdup("all");
	for (i = 0; i < symtab_count(st); i++) {
		const struct symbol *s = symtab_at(st, i);

		strbuf_addf(&text, "%s%u", i ? " " : "",
			    (unsigned int)((s->offset - START) / SIZE));
		CHECK_EQ(strtoul(s->name + 1, NULL, 10), (s->offset - START) / SIZE);
	}
	return strbuf_take(&text);
}

static char *table_of(const char *dir)
{
	return table_of_key(dir, key);
}

static char *make_session(const char *dir, const char *name)
{
	char *samples = session_samples(dir, name);
	struct manifest_image image = { .path = program, .version = { .size = 5 } };
	_cleanup_(manifest_closep) struct manifest *m = NULL;

	CHECK_EQ(session_create(dir, name, NULL), 0);
	CHECK_EQ(build_id_parse(key, &image.version.build_id), 0);
	CHECK_EQ(manifest_open(samples, true, &m, NULL), 0);
	CHECK(manifest_name(m, &image, NULL) != NULL);
	return samples;
}

static void add_file(const char *samples, const char *directory, unsigned int function)
{
	const struct sfile_header header = { .cpu_type = 4 };
	_cleanup_free_ char *path = xasprintf("%s/%s%s", samples, directory, below);
	_cleanup_(sfile_closep) struct sfile *sf = NULL;

	CHECK_EQ(path_make_parents(path, 0755, NULL), 0);
	CHECK_EQ(sfile_create(path, &header, &sf, NULL), 0);
	CHECK_EQ(odb_add(sfile_odb(sf), place(function, 7), 100), 0);
}

/* A slice of the last hour with a sample. */
static void add_slice(const char *samples, unsigned int function)
{
	_cleanup_(history_writer_freep) struct history_writer *w = history_writer_new(samples);
	const int64_t now_ms = window_now_ms();
	struct history_name name = { .header = { .cpu_type = 4 } };
	struct slice slice = { .span = { now_ms - 20000, now_ms - 10000 },
			       .samples = 1,
			       .taken = 1 };

	CHECK_EQ(sname_parse(below, &name.name, NULL), 0);
	history_writer_count(w, history_writer_file(w, &name), place(function, 3), 1);
	CHECK_EQ(history_writer_end(w, &slice, NULL), 0);
	sname_done(&name.name);
}

/* A chain: @function was called by the one before @next, at its end. */
static void add_chain(const char *samples, unsigned int function, unsigned int next)
{
	const struct sname_image image = { .kind = SNAME_ROOT, .name = program };
	struct chain_frame frames[2] = { { .offset = place(function, 9) },
					 { .offset = place(next, 0) } };
	const struct chain chain = { .frames = frames, .count = 2, .samples = 1 };
	struct chain_context context = { .event = "TIMER.0.0",
					 .end = "complete",
					 .task = SNAME_TASK_ALL };
	struct chain_store *s = NULL;
	uint32_t number, of_image;

	CHECK_EQ(chain_store_open(samples, &s, NULL), 0);
	CHECK_EQ(chain_store_image(s, &image, false, &of_image, NULL), 0);
	frames[0].image = frames[1].image = context.app = of_image;
	CHECK_EQ(chain_store_context(s, &context, &number, NULL), 0);
	CHECK_EQ(chain_store_add(s, number, &chain, NULL), 0);
	chain_store_close(s);
}

static void add_all(const char *samples)
{
	add_file(samples, "", 10);
	add_file(samples, "idle/1.files/", 50);
	add_slice(samples, 40);
	add_chain(samples, 20, 31);
}

/* Cuts what was not used for a day, of any size; of that what fits into @memory_max bytes. */
static void cut_some(const char *samples, size_t memory_max)
{
	const struct cut_functions how = { .until_s = time(NULL) - DAY_S,
					   .bytes_least = 1,
					   .memory_max = memory_max };

	cut_functions(samples, &how);
}

static void cut(const char *samples)
{
	cut_some(samples, 1 << 20);
}

static void what_was_sampled_keeps_its_name(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *samples = make_session(dir, "current"),
			    *other = make_session(dir, "before"), *left = NULL;

	keep_table(dir, 3);
	add_all(samples);
	add_file(other, "", 60);
	cut(samples);
	left = table_of(dir);
	CHECK_STR(left, "10 20 30 31 40 50 60");
}

/* The same when the history was rolled up, and the sample files that were idle were added up. */
static void what_was_rolled_up_keeps_its_name(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *samples = make_session(dir, "current"), *left = NULL;
	const struct upkeep how = { .now_ms = window_now_ms() + 2 * INT64_C(3600000),
				    .live = UINT32_MAX,
				    .chains = &history_chains,
				    .chains_live = UINT32_MAX,
				    .idle_ms = INT64_C(86400000) };
	struct strbuf log = STRBUF_INIT;

	keep_table(dir, 3);
	add_all(samples);
	CHECK(history_upkeep(samples, &how, &log) >= 0);
	CHECK_STR(strbuf_text(&log), "");
	strbuf_done(&log);
	cut(samples);
	left = table_of(dir);
	CHECK_STR(left, "10 20 30 31 40 50");
}

/* However little memory there is, each time a table is cut. */
static void what_is_too_much_is_left_to_the_next_time(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *samples = make_session(dir, "current");
	unsigned int round;

	keep_table_of(dir, key, 3);
	keep_table_of(dir, other_key, 3);
	for (round = 1; round <= 2; round++) {
		_cleanup_free_ char *one = NULL, *other = NULL;
		unsigned int whole;

		cut_some(samples, 1);
		one = table_of(dir);
		other = table_of_key(dir, other_key);
		whole = !strcmp(one, "all");
		whole += !strcmp(other, "all");
		CHECK_EQ(whole, 2 - round);
	}
}

static void what_is_in_use_stays_whole(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *samples = make_session(dir, "current"), *left = NULL;

	keep_table(dir, 0);
	add_file(samples, "", 10);
	cut(samples);
	left = table_of(dir);
	CHECK_STR(left, "all");
}

/* Nothing is known of what cannot be read. */
static void nothing_is_cut_by_half_of_the_facts(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *samples = make_session(dir, "current"),
			    *other = make_session(dir, "before"),
			    *history = path_join(other, "history"), *left = NULL;
	_cleanup_fclose_ FILE *file = NULL;

	keep_table(dir, 3);
	add_file(samples, "", 10);
	file = fopen(history, "we"); /* no directory */
	CHECK(file != NULL);
	cut(samples);
	left = table_of(dir);
	CHECK_STR(left, "all");
}

static void work(const void *samples)
{
	cut(samples);
}

/* All functions are there, or those that were sampled; all are, for the next time. */
static void check(const void *data)
{
	const char *samples = data;
	_cleanup_free_ char *dir = path_join(samples, "../.."), *left = NULL;

	left = table_of(dir);
	CHECK(!strcmp(left, "all") || !strcmp(left, "10 20 30 31 40 50"));
	keep_table(dir, 3);
}

static void a_kill_at_any_time_loses_no_name(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *samples = make_session(dir, "current"), *left = NULL;

	keep_table(dir, 3);
	add_all(samples);
	CHECK(kill_often(&(struct killed_work){ work, check, samples, 3000 }) > 0);
	cut(samples);
	left = table_of(dir);
	CHECK_STR(left, "10 20 30 31 40 50");
}

TESTS(T(what_was_sampled_keeps_its_name), T(what_was_rolled_up_keeps_its_name),
      T(what_is_too_much_is_left_to_the_next_time), T(what_is_in_use_stays_whole),
      T(a_kill_at_any_time_loses_no_name), T(nothing_is_cut_by_half_of_the_facts))
