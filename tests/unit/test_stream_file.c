/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "bpf/interpreter.h"
#include "identity/cookie.h"
#include "interpreter/function_line.h"
#include "stats/counters.h"
#include "stream/evbuf.h"
#include "stream/stream_file.h"

#include <errno.h>
#include <sys/stat.h>

static const struct event two_events[] = {
	{ .name = "TIMER", .rate_hz = 999, .kernel = true, .user = true, .is_timer = true },
	{ .name = "CPU_CLK_UNHALTED",
	  .count = 100000,
	  .code = 0x76,
	  .user = true,
	  .perf_config = 7 },
};
static const uint64_t words[] = { EVBUF_ESCAPE, EVBUF_COOKIE_SWITCH, 1, 0x1234, 0 };

struct run {
	char *dir;
	char *path;
	struct cookie_table *cookies;
	struct stream_file *tee;
};

static void run_init(struct run *run)
{
	struct error err = ERROR_INIT;

	run->dir = test_directory();
	run->path = path_join(run->dir, "stream");
	run->cookies = cookie_table_new();
	CHECK_EQ(stream_file_create(run->path, two_events, 2, run->cookies, &run->tee, &err), 0);
}

static void run_done(struct run *run)
{
	cookie_table_free(run->cookies);
	free(run->path);
	test_directory_donep(&run->dir);
}

static void what_is_teed_is_what_is_replayed(void)
{
	_cleanup_(run_done) struct run run;
	_cleanup_(stream_file_reader_closep) struct stream_file_reader *reader = NULL;
	struct cookie_table *seen = cookie_table_new();
	struct driver_stats stats = { .sample_received = 11, .throttled = 3 }, back = { 0 };
	struct error err = ERROR_INIT;
	const struct cookie_image *image;
	const uint64_t *got;
	size_t n = 0;

	run_init(&run);
	CHECK_EQ(cookie_file(run.cookies, &(struct file_identity){ 5, 6, 7 }, "/usr/bin/a b"), 1);
	CHECK_EQ(stream_file_words(words, 5, run.tee), 0);
	CHECK_EQ(stream_file_words(words, 2, run.tee), 0);
	CHECK_EQ(stream_file_close(run.tee, &stats, &err), 0);

	CHECK_EQ(stream_file_open(run.path, &reader, &err), 0);
	CHECK(!memcmp(stream_file_events(reader, &n), two_events, sizeof(two_events)));
	CHECK_EQ(n, 2);
	CHECK(stream_file_same_boot(reader));
	CHECK_EQ(stream_file_next(reader, seen, &got, &n, &err), 1);
	CHECK_EQ(n, 5);
	CHECK(!memcmp(got, words, sizeof(words)));
	image = cookie_lookup(seen, 1);
	if (CHECK(image)) {
		CHECK_STR(image->path, "/usr/bin/a b");
		CHECK(image->file.device == 5 && image->file.inode == 6 &&
		      image->file.generation == 7);
	}
	CHECK_EQ(stream_file_next(reader, seen, &got, &n, &err), 1);
	CHECK_EQ(n, 2);
	CHECK_EQ(stream_file_next(reader, seen, &got, &n, &err), 0);
	stream_file_stats(reader, &back);
	CHECK_EQ(back.sample_received, 11);
	CHECK_EQ(back.throttled, 3);
	cookie_table_free(seen);
}

/* Words that are written meanwhile must not keep it out of the stream. */
static void a_version_that_is_found_later_is_replayed(void)
{
	_cleanup_(run_done) struct run run;
	_cleanup_(stream_file_reader_closep) struct stream_file_reader *reader = NULL;
	struct cookie_table *seen = cookie_table_new();
	struct cookie_image image = { .cookie = 1, .identified = true, .path = (char *)"/bin/a" };
	struct error err = ERROR_INIT;
	const uint64_t *got;
	size_t n, i;

	run_init(&run);
	for (i = 0; i < 3; i++) {
		image.version.size = i ? 4096 : 0;
		cookie_define(run.cookies, &image);
		CHECK_EQ(stream_file_words(words, 5, run.tee), 0);
	}
	CHECK_EQ(stream_file_close(run.tee, NULL, &err), 0);
	CHECK_EQ(stream_file_open(run.path, &reader, &err), 0);
	for (i = 0; i < 3; i++) {
		CHECK_EQ(stream_file_next(reader, seen, &got, &n, &err), 1);
		CHECK_EQ(cookie_lookup(seen, 1)->version.size, i ? 4096 : 0);
	}
	cookie_table_free(seen);
}

/* A function with @line_count lines comes back from the stream as it was. */
static void check_function(const char *name, size_t line_count)
{
	_cleanup_(run_done) struct run run;
	_cleanup_(stream_file_reader_closep) struct stream_file_reader *reader = NULL;
	struct cookie_table *seen = cookie_table_new();
	struct function_line lines[] = { { 0, 7 }, { 10, 8 }, { 16, 7 } };
	struct cookie_function function = { .name = (char *)name,
					    .language = INTERPRETER_RUBY,
					    .bytes = 30,
					    .digest = 0x1234 | COOKIE_DIGEST_SET,
					    .lines = lines,
					    .line_count = line_count };
	struct error err = ERROR_INIT;
	const struct cookie_image *image;
	const uint64_t *got;
	size_t n = 0;

	run_init(&run);
	CHECK_EQ(cookie_source(run.cookies, "/srv/app.rb", &function), 1);
	CHECK_EQ(stream_file_words(words, 5, run.tee), 0);
	CHECK_EQ(stream_file_close(run.tee, NULL, &err), 0);
	CHECK_EQ(stream_file_open(run.path, &reader, &err), 0);
	CHECK_EQ(stream_file_next(reader, seen, &got, &n, &err), 1);
	image = cookie_lookup(seen, 1);
	if (CHECK(image && image->kind == COOKIE_SOURCE && image->function)) {
		CHECK_STR(image->path, "/srv/app.rb");
		CHECK_STR(image->function->name, name);
		CHECK_EQ(image->function->language, INTERPRETER_RUBY);
		CHECK_EQ(image->function->bytes, 30);
		CHECK_EQ(image->function->digest, function.digest);
		CHECK_EQ(image->function->line_count, line_count);
		CHECK(!memcmp(image->function->lines, lines, line_count * sizeof(*lines)));
		CHECK_EQ(cookie_source(seen, "/srv/app.rb", &function), 1);
	}
	cookie_table_free(seen);
}

static void functions_of_source_files_are_replayed(void)
{
	check_function("f", 3);
	check_function("seven77", 2);
	check_function("a_longer_name", 0);
}

static void a_stream_cut_anywhere_is_read_up_to_there(void)
{
	_cleanup_(run_done) struct run run;
	struct error err = ERROR_INIT;
	struct stat st;
	off_t length;
	int calls = 0;

	run_init(&run);
	CHECK_EQ(cookie_file(run.cookies, &(struct file_identity){ 5, 6, 7 }, "/bin/a"), 1);
	CHECK_EQ(stream_file_words(words, 5, run.tee), 0);
	CHECK_EQ(stream_file_close(run.tee, NULL, &err), 0);
	CHECK_EQ(stat(run.path, &st), 0);
	for (length = st.st_size - 1; length >= 0; length--) {
		_cleanup_(stream_file_reader_closep) struct stream_file_reader *reader = NULL;
		struct cookie_table *seen = cookie_table_new();
		const uint64_t *got;
		size_t n;

		CHECK_EQ(truncate(run.path, length), 0);
		if (stream_file_open(run.path, &reader, &err) == 0) {
			CHECK_EQ(stream_file_next(reader, seen, &got, &n, &err), 0);
			calls++;
		} else {
			CHECK_EQ(err.code, -EBADMSG);
		}
		cookie_table_free(seen);
	}
	CHECK(calls > 0);
}

static void what_is_no_stream_is_named(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "x");
	struct stream_file_reader *reader;
	struct error err = ERROR_INIT;

	CHECK_EQ(stream_file_open(path, &reader, &err), -ENOENT);
	CHECK_EQ(path_write(path, "something else\n", 0600, &err), 0);
	CHECK_EQ(stream_file_open(path, &reader, &err), -EBADMSG);
	CHECK(strstr(err.text, path) && strstr(err.text, "not a recorded event stream"));
}

static void a_full_disk_is_reported(void)
{
	struct cookie_table *cookies = cookie_table_new();
	struct error err = ERROR_INIT;
	struct stream_file *tee;

	if (access("/dev/full", W_OK) < 0) {
		cookie_table_free(cookies);
		SKIP("no /dev/full here");
	}
	CHECK_EQ(stream_file_create("/dev/full", two_events, 2, cookies, &tee, &err), 0);
	CHECK_EQ(stream_file_close(tee, NULL, &err), -ENOSPC);
	CHECK(strstr(err.text, "/dev/full"));
	cookie_table_free(cookies);
}

TESTS(T(what_is_teed_is_what_is_replayed), T(a_version_that_is_found_later_is_replayed),
      T(functions_of_source_files_are_replayed), T(a_stream_cut_anywhere_is_read_up_to_there),
      T(what_is_no_stream_is_named), T(a_full_disk_is_reported))
