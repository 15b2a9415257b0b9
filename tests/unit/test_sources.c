/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/log.h"
#include "base/strbuf.h"
#include "profile/binary/sources.h"

#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

struct warnings {
	size_t count;
	char last[1024];
};

static void count_warning(enum log_level level, const char *text, void *data)
{
	struct warnings *w = data;

	(void)level;
	w->count++;
	(void)snprintf(w->last, sizeof(w->last), "%s", text);
}

/* An empty file; the directories are made too. */
static void make_file(const char *directory, const char *name)
{
	_cleanup_free_ char *path = path_join(directory, name);
	struct error err = ERROR_INIT;

	if (path_make_parents(path, 0777, &err) < 0 || path_write(path, "", 0666, &err) < 0)
		abort();
}

/* Whether @path is found as @expected below @directory. */
static bool finds(struct sources *s, const char *path, const char *directory, const char *expected)
{
	_cleanup_free_ char *found = sources_find(s, path);
	_cleanup_free_ char *want = path_join(directory, expected);

	if (!found || strcmp(found, want))
		printf("# %s is found as %s\n", path, found ? found : "nothing");
	return found && !strcmp(found, want);
}

static void a_source_is_looked_for_in_every_place(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *root = path_join(dir, "root"), *second = path_join(dir, "root2");
	_cleanup_free_ char *search = NULL;
	_cleanup_(sources_freep) struct sources *s = NULL;

	make_file(dir, "root/build/x/in-root.c");
	make_file(dir, "src/sub/stripped.c");
	make_file(dir, "src/build/x/whole.c");
	make_file(dir, "src/named.c");
	make_file(dir, "src2/sub/second.c");
	make_file(dir, "root2/build/x/in-root.c");
	make_file(dir, "root2/build/x/in-second-root.c");
	search = xasprintf("%s/src,%s/src2/", dir, dir);
	s = sources_new(root, search, "/build,/build/x/,/other");
	CHECK(!sources_find(s, "/build/x/in-second-root.c"));
	sources_add_root(s, second);
	CHECK(finds(s, "/build/x/in-second-root.c", dir, "root2/build/x/in-second-root.c"));
	CHECK(finds(s, "/build/x/in-root.c", dir, "root/build/x/in-root.c"));
	CHECK(finds(s, "/build/x/sub/stripped.c", dir, "src/sub/stripped.c"));
	CHECK(finds(s, "/build/x/whole.c", dir, "src/build/x/whole.c"));
	CHECK(finds(s, "/anywhere/named.c", dir, "src/named.c"));
	CHECK(finds(s, "sub/second.c", dir, "src2/sub/second.c"));
}

/* What is warned of if these files, each of one letter, were looked for. */
static struct warnings warned_of(const char *files)
{
	struct sources *s = sources_new(NULL, "/no/such", NULL);
	struct warnings w = { 0 };

	log_to(LOG_LEVEL_WARNING, count_warning, &w);
	for (; *files; files++) {
		char path[] = { '/', 'n', 'o', '/', *files, '\0' };

		CHECK(!sources_find(s, path));
	}
	CHECK_EQ(w.count, 0);
	sources_free(s);
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	CHECK_EQ(w.count, 1);
	return w;
}

static void missing_sources_are_one_warning(void)
{
	CHECK(strstr(warned_of("aa").last, "source /no/a not found (tried /no/a, /no/such/no/a"));
	CHECK(strstr(warned_of("abbcde").last, "5 sources not found (/no/a, /no/b, /no/c and 2 "));
}

/* Compares files of that many seconds with a binary of 2000 s. Returns what is warned of. */
static struct warnings warned_of_times(const char *dir, const time_t *times, size_t count)
{
	struct sources *s = sources_new(NULL, NULL, NULL);
	struct warnings w = { 0 };
	size_t i;

	log_to(LOG_LEVEL_WARNING, count_warning, &w);
	for (i = 0; i < count; i++) {
		const char name[] = { (char)('a' + i), '\0' };
		_cleanup_free_ char *path = path_join(dir, name);

		make_file(dir, name);
		CHECK_EQ(utime(path, &(struct utimbuf){ times[i], times[i] }), 0);
		sources_compare(s, path, 0);
		sources_compare(s, path, 2000);
		sources_compare(s, path, 2000);
	}
	sources_free(s);
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	return w;
}

static void newer_sources_are_one_warning(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *one = NULL, *many = NULL;
	struct warnings w = warned_of_times(dir, (time_t[]){ 1999, 2000, 0 }, 3);

	CHECK_EQ(w.count, 0);
	w = warned_of_times(dir, (time_t[]){ 1999, 2001 }, 2);
	one = xasprintf("source %s/b is newer than what was built from it; samples may be on the "
			"wrong lines",
			dir);
	CHECK_STR(w.last, one);
	w = warned_of_times(dir, (time_t[]){ 2001, 2001, 2001, 2001 }, 4);
	CHECK_EQ(w.count, 1);
	many = xasprintf(
		"4 sources are newer than what was built from them (%s/a, %s/b, %s/c and 1 "
		"more); samples may be on the wrong lines",
		dir, dir, dir);
	CHECK_STR(w.last, many);
}

static void a_directory_is_no_source(void)
{
	_cleanup_(sources_freep) struct sources *s = sources_new(NULL, NULL, NULL);
	_cleanup_free_ char *found = sources_find(s, "/usr");

	CHECK(!found);
}

/* The lines of a file with this content, as "[first][second]"; caller frees. */
static char *lines_of(const char *content, size_t size)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "source");
	_cleanup_(sourcetext_freep) struct sourcetext *t = NULL;
	_cleanup_fclose_ FILE *f = fopen(path, "we");
	struct strbuf b = STRBUF_INIT;
	const char *text;
	size_t i, length;

	if (!f || fwrite(content, 1, size, f) != size || fflush(f) != 0)
		abort();
	t = sourcetext_open(path, 0);
	CHECK(t);
	CHECK(!sourcetext_line(t, 0, &text, &length));
	for (i = 1; sourcetext_line(t, i, &text, &length); i++)
		strbuf_addf(&b, "[%.*s]", (int)length, text);
	CHECK(!sourcetext_line(t, SIZE_MAX, &text, &length));
	return strbuf_take(&b);
}

static void lines_are_found_by_number(void)
{
	static const struct {
		const char *content, *lines;
	} rows[] = {
		{ "", "" },
		{ "\n", "[]" },
		{ "one\ntwo\n", "[one][two]" },
		{ "one\n\nno newline", "[one][][no newline]" },
		{ "\r\n\t\n", "[\r][\t]" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *lines = lines_of(rows[i].content, strlen(rows[i].content));

		CHECK_STR(lines, rows[i].lines);
	}
}

static void what_is_no_file_is_not_opened(void)
{
	CHECK(!sourcetext_open("/nonexistent", 0));
	CHECK(!sourcetext_open("/usr", 0));
	CHECK(!sourcetext_open("/dev/null", 0));
}

static void root_shows_a_users_binary_only_what_that_user_may_read(void)
{
	enum { NOBODY = 65534 };
	static const struct {
		mode_t mode;
		uid_t file, binary;
		bool shown;
	} rows[] = {
		{ 0600, 0, 0, true },		{ 0644, 0, NOBODY, true },
		{ 0600, 0, NOBODY, false },	{ 0640, 0, NOBODY, false },
		{ 0600, NOBODY, NOBODY, true }, { 0600, NOBODY - 1, NOBODY, false },
		{ 0600, NOBODY, 0, true },
	};
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "a.c");
	size_t i;

	if (geteuid() != 0)
		SKIP("needs root, who may read all");
	make_file(dir, "a.c");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_fclose_ FILE *in = NULL;

		CHECK_EQ(chmod(path, rows[i].mode), 0);
		CHECK_EQ(chown(path, rows[i].file, rows[i].file), 0);
		in = sources_open(path, rows[i].binary);
		if ((in != NULL) != rows[i].shown)
			printf("# row %zu\n", i);
		CHECK_EQ(in != NULL, rows[i].shown);
	}
}

TESTS(T(root_shows_a_users_binary_only_what_that_user_may_read),
      T(a_source_is_looked_for_in_every_place), T(missing_sources_are_one_warning),
      T(newer_sources_are_one_warning), T(a_directory_is_no_source), T(lines_are_found_by_number),
      T(what_is_no_file_is_not_opened))
