/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "identity/finder.h"

#include "dwarf/kept_lines.h"
#include "file/copy.h"
#include "file/file_identity.h"
#include "identity/cookie.h"
#include "identity/opener.h"
#include "parser/parser.h"
#include "parser/parser_places.h"
#include "collect/internal/backlog.h"
#include "symbol/function_file.h"
#include "symbol/function_store.h"
#include "symbol/symtab.h"
#include "test.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

DEFINE_CLEANUP(struct cookie_table *, cookie_table_free);

struct bench {
	char *dir, *path;
	struct parser *parser;
	struct opener *opener;
	struct finder *finder;
	struct cookie_table *cookies;
	struct function_store *store;
	struct cookie_mapped where; /* this process */
};

static void bench_init(struct bench *b)
{
	struct error err = ERROR_INIT;

	*b = (struct bench){ .dir = test_directory(), .where.tgid = (uint32_t)getpid() };
	b->path = xasprintf("%s/program", b->dir);
	b->cookies = cookie_table_new();
	b->store = function_store_new(b->dir, 1 << 30);
	CHECK_EQ(copy_file("/proc/self/exe", 0, b->path, &err), 0);
	CHECK_EQ(parser_new(&b->parser, &err), 0);
	CHECK_EQ(opener_new(b->parser, &b->opener, &err), 0);
	CHECK_EQ(finder_new(b->opener, &b->finder, &err), 0);
	cookie_table_finder(b->cookies, b->finder);
}

static void bench_done(struct bench *b)
{
	finder_free(b->finder);
	opener_free(b->opener);
	parser_free(b->parser);
	cookie_table_free(b->cookies);
	function_store_free(b->store);
	free(b->path);
	test_directory_donep(&b->dir);
}
#define BENCH(b)                                                                                   \
	_cleanup_(bench_done) struct bench b;                                                      \
	bench_init(&b)

static uint64_t cookie_of(struct bench *b)
{
	struct file_identity file;
	struct stat st;

	CHECK_EQ(stat(b->path, &st), 0);
	file = file_identity_of(&st);
	return cookie_file(b->cookies, &file, b->path);
}

static void an_image_is_identified_later(void)
{
	BENCH(b);
	uint64_t cookie = cookie_of(&b);
	const struct cookie_image *image = cookie_lookup(b.cookies, cookie);
	_cleanup_(cookie_table_freep) struct cookie_table *here = cookie_table_new();
	const struct cookie_image *same;

	CHECK_EQ(cookie_asked(b.cookies), 0);
	cookie_identify(b.cookies, cookie, &(struct cookie_mapped){ 0 });
	CHECK_EQ(cookie_asked(b.cookies), 1);
	CHECK(image->identified && !image->verified && !image->version.size);
	CHECK(cookie_await(b.cookies, 1, 10000));
	CHECK(image->verified);
	same = cookie_lookup(here, cookie_file(here, &image->file, b.path));
	cookie_identify(here, same->cookie, &(struct cookie_mapped){ 0 });
	CHECK_EQ(image->version.size, same->version.size);
	CHECK_EQ(image->version.mtime, same->version.mtime);
	CHECK_EQ(image->file.generation, same->file.generation);
	CHECK(image->version.build_id.size == same->version.build_id.size &&
	      !memcmp(image->version.build_id.bytes, same->version.build_id.bytes,
		      same->version.build_id.size));
}

/* The path of the functions of @image in the bench's directory; caller frees. */
static char *kept_path(const struct bench *b, const struct cookie_image *image)
{
	char key[FUNCTION_KEY];

	CHECK(function_key(&image->file, &image->version, key));
	return xasprintf("%s/symbols/%s", b->dir, key);
}

static uint64_t functions_kept(const struct bench *b)
{
	struct function_store_counts counts;

	function_store_count(b->store, &counts);
	return counts.functions_kept;
}

static void functions_of_what_is_sampled_are_kept(void)
{
	BENCH(b);
	uint64_t cookie = cookie_of(&b);
	const struct cookie_image *image = cookie_lookup(b.cookies, cookie);
	_cleanup_(symtab_freep) struct symtab *st = NULL;
	_cleanup_free_ char *path = NULL;
	unsigned int i;

	cookie_keep_in(b.cookies, b.store);
	cookie_identify(b.cookies, cookie, &b.where);
	CHECK(cookie_await(b.cookies, 1, 10000));
	path = kept_path(&b, image);
	CHECK(access(path, F_OK) < 0);
	cookie_keep(b.cookies, cookie, &b.where);
	for (i = 0; i < 1000 && access(path, F_OK) < 0; i++)
		(void)usleep(10000);
	CHECK_EQ(function_file_read(path, "program", &st, NULL), 0);
}

/* The file of a program that has ended has no name, and no process shows it. */
static void functions_of_what_is_executed_outlive_it(void)
{
	BENCH(b);
	uint64_t cookie = cookie_of(&b);
	const struct cookie_image *image = cookie_lookup(b.cookies, cookie);
	_cleanup_(symtab_freep) struct symtab *st = NULL;
	_cleanup_free_ char *path = NULL;
	struct function_store_counts counts;
	unsigned int i;

	cookie_keep_in(b.cookies, b.store);
	cookie_identify(b.cookies, cookie, &b.where);
	cookie_executed(b.cookies, cookie, &b.where);
	CHECK(cookie_await(b.cookies, 1, 10000));
	path = kept_path(&b, image);
	for (i = 0; i < 1000 && finder_reads(b.finder); i++)
		(void)usleep(10000);
	CHECK(access(path, F_OK) < 0);
	CHECK_EQ(unlink(b.path), 0);
	cookie_keep(b.cookies, cookie, &b.where);
	finder_finish_functions(b.finder, 10000);
	CHECK_EQ(function_file_read(path, "program", &st, NULL), 0);
	function_store_count(b.store, &counts);
	CHECK_EQ(counts.functions_put_off, 0);
}

static void functions_of_a_settled_file_are_read_later(void)
{
	BENCH(b);
	uint64_t cookie = cookie_of(&b);
	struct finder_job job = { .where = b.where };
	_cleanup_free_ char *path = NULL;
	struct finder_job answer;

	finder_set_store(b.finder, b.store);
	cookie_identify(b.cookies, cookie, &b.where);
	CHECK(cookie_await(b.cookies, 1, 10000));
	job.image = *cookie_lookup(b.cookies, cookie);
	CHECK(!job.image.settled); /* no package installs it there */
	job.image.settled = true;
	path = kept_path(&b, &job.image);
	finder_keep_functions(b.finder, &job);
	/* Another's are read at once, and after it. */
	job.image.settled = false;
	job.image.cookie++;
	job.image.version.build_id.bytes[0]++;
	finder_keep_functions(b.finder, &job);
	while (!functions_kept(&b))
		(void)usleep(10000);
	CHECK(!finder_take(b.finder, &answer));
	CHECK(access(path, F_OK) < 0);
	finder_finish_functions(b.finder, 10000);
	CHECK_EQ(access(path, F_OK), 0);
}

/* Asks for the lines of the function @name of @image once, and waits for an answer. */
static void keep_lines_of(struct bench *b, const char *name, const struct cookie_image *image)
{
	_cleanup_(symtab_freep) struct symtab *st = NULL;
	_cleanup_free_ char *path = kept_path(b, image);
	struct parser_places hottest = { .count = 0 };
	struct function_store_counts counts, before;
	unsigned int i;

	CHECK_EQ(function_file_read(path, "program", &st, NULL), 0);
	for (i = 0; i < symtab_count(st); i++)
		if (!strcmp(symtab_at(st, i)->name, name))
			hottest.offsets[hottest.count++] = symtab_at(st, i)->offset + 1;
	CHECK_EQ(hottest.count, 1);
	function_store_count(b->store, &before);
	cookie_keep_lines(b->cookies, image->cookie, &hottest);
	for (i = 0; i < 1000; i++) {
		cookie_settle(b->cookies);
		function_store_count(b->store, &counts);
		if (counts.lines_kept + counts.lines_put_off >
		    before.lines_kept + before.lines_put_off)
			return;
		(void)usleep(10000);
	}
	CHECK(!"answered");
}

static void lines_of_the_hottest_functions_are_kept(void)
{
	BENCH(b);
	uint64_t cookie = cookie_of(&b);
	const struct cookie_image *image = cookie_lookup(b.cookies, cookie);
	_cleanup_(kept_lines_done) struct kept_lines kept = { 0 };
	struct function_store_counts counts;
	_cleanup_free_ char *path = NULL;
	size_t i, own = 0;

	cookie_keep_in(b.cookies, b.store);
	cookie_identify(b.cookies, cookie, &b.where);
	CHECK(cookie_await(b.cookies, 1, 10000));
	path = kept_path(&b, image);
	cookie_keep(b.cookies, cookie, &b.where);
	while (!functions_kept(&b))
		(void)usleep(10000);
	keep_lines_of(&b, "finder_new", image);
	CHECK_EQ(function_file_read_lines(path, &kept, NULL), 0);
	for (i = 0; i < kept.file_count; i++)
		own += strstr(kept.files[i], "lib/identity/finder.c") != NULL;
	CHECK_EQ(own, 1);
	CHECK(kept.count > 5);
	/* There is a pause before the next one. */
	keep_lines_of(&b, "opener_new", image);
	function_store_count(b.store, &counts);
	CHECK_EQ(counts.lines_kept, 1);
	CHECK_EQ(counts.lines_put_off, 1);
}

/* The opener's worker that is asked reaches only one worker of the parser. */
static void a_version_is_read_for_the_thread_of_functions(void)
{
	BENCH(b);
	struct cookie_image image = *cookie_lookup(b.cookies, cookie_of(&b));

	CHECK_EQ(opener_version(b.opener, &image, &b.where), 0);
	CHECK(image.verified);
	CHECK(image.version.build_id.size > 0);
}

static void without_a_finder_an_open_file_is_enough(void)
{
	BENCH(b);
	uint64_t cookie = cookie_of(&b);
	const struct cookie_image *image = cookie_lookup(b.cookies, cookie);
	_cleanup_(symtab_freep) struct symtab *st = NULL;
	_cleanup_free_ char *path = NULL;

	cookie_table_finder(b.cookies, NULL);
	cookie_table_parser(b.cookies, b.parser);
	cookie_keep_in(b.cookies, b.store);
	cookie_identify(b.cookies, cookie, &b.where);
	cookie_keep(b.cookies, cookie, &b.where);
	CHECK_EQ(unlink(b.path), 0);
	path = kept_path(&b, image);
	CHECK(access(path, F_OK) < 0);
	cookie_read_functions(b.cookies, true);
	CHECK_EQ(function_file_read(path, "program", &st, NULL), 0);
}

static void a_changed_file_gets_another_cookie_later(void)
{
	const uint64_t second = 1000000000;
	const struct cookie_mapped where = { .root = "" };
	BENCH(b);
	uint64_t cookie = cookie_of(&b), new = cookie;
	_cleanup_close_ int fd = open(b.path, O_WRONLY | O_APPEND);
	int i;

	cookie_identify(b.cookies, cookie, &(struct cookie_mapped){ 0 });
	CHECK(cookie_await(b.cookies, 1, 10000));
	CHECK_EQ(write(fd, "more", 4), 4);
	CHECK_EQ(cookie_renew(b.cookies, cookie, &where, 10 * second), cookie);
	for (i = 0; i < 1000 && new == cookie; i++) {
		(void)usleep(10000);
		cookie_settle(b.cookies);
		new = cookie_renew(b.cookies, cookie, &where, 11 * second);
	}
	CHECK(new != cookie);
	CHECK_EQ(cookie_lookup(b.cookies, new)->version.size,
		 cookie_lookup(b.cookies, cookie)->version.size + 4);
}

static void a_table_is_built_of_what_another_process_opens(void)
{
	BENCH(b);
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	_cleanup_(unwind_table_freep) struct unwind_table *there = NULL, *here = NULL;
	_cleanup_close_ int fd = open(b.path, O_RDONLY | O_CLOEXEC);
	const struct cookie_mapped where = { .root = "" };
	struct cookie_image image = { .kind = COOKIE_FILE, .path = b.path };

	CHECK_EQ(opener_table(b.opener, &image, &where, rules, &there), 0);
	CHECK_EQ(parser_table(NULL, fd, rules, &here, NULL), 0);
	CHECK_EQ(there->row_count, here->row_count);
	image.path = b.dir;
	CHECK_EQ(opener_table(b.opener, &image, &where, rules, &there), -ENOENT);
}

static void samples_wait_in_order_until_images_are_known(void)
{
	BENCH(b);
	struct backlog backlog = { 0 };
	struct backlog_part part;
	uint64_t word = 1;

	backlog_put(&backlog, &word, 1, 1);
	word = 2;
	backlog_put(&backlog, &word, 1, 0);
	CHECK(!backlog_take(&backlog, b.cookies, &part));
	cookie_identify(b.cookies, cookie_of(&b), &(struct cookie_mapped){ 0 });
	CHECK(cookie_await(b.cookies, 1, 10000));
	for (word = 1; word <= 2; word++) {
		CHECK(backlog_take(&backlog, b.cookies, &part));
		CHECK_EQ(part.words[0], word);
		free(part.words);
	}
	CHECK(backlog_is_empty(&backlog));
	backlog_put(&backlog, &word, 1, 2); /* an answer that does not come */
	CHECK(!backlog_take(&backlog, b.cookies, &part));
	backlog_release(&backlog, b.cookies, 1);
	CHECK(backlog_take(&backlog, b.cookies, &part));
	free(part.words);
	backlog_done(&backlog);
}

static void a_backlog_that_is_never_empty_stays_small(void)
{
	_cleanup_(cookie_table_freep) struct cookie_table *cookies = cookie_table_new();
	struct backlog waiting = { 0 };
	struct backlog_part part;
	uint64_t i, wrong = 0;

	backlog_put(&waiting, &(uint64_t){ 0 }, 1, 0);
	for (i = 1; i < 10000; i++) {
		backlog_put(&waiting, &i, 1, 0);
		CHECK(backlog_take(&waiting, cookies, &part));
		wrong += *part.words != i - 1;
		free(part.words);
	}
	CHECK_EQ(wrong, 0);
	CHECK(waiting.room < 100);
	backlog_done(&waiting);
}

TESTS(T(an_image_is_identified_later), T(functions_of_what_is_sampled_are_kept),
      T(functions_of_what_is_executed_outlive_it), T(functions_of_a_settled_file_are_read_later),
      T(lines_of_the_hottest_functions_are_kept), T(a_version_is_read_for_the_thread_of_functions),
      T(without_a_finder_an_open_file_is_enough), T(a_changed_file_gets_another_cookie_later),
      T(a_table_is_built_of_what_another_process_opens),
      T(samples_wait_in_order_until_images_are_known), T(a_backlog_that_is_never_empty_stays_small))
