/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of a session, and the files of runtimes: lib/sfile/session_names.c,
 * lib/identity/runtime_name.c. */
#include "test.h"

#include "base/log.h"
#include "base/strbuf.h"
#include "identity/runtime_name.h"
#include "sfile/session_names.h"

#include <errno.h>
#include <sys/stat.h>

#define ID    "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"
#define OTHER "1a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"

static void ids_are_found_in_paths(void)
{
	static const char *const with[] = { ID, "/docker/" ID "/x", "/a/docker-" ID ".scope",
					    "/crio-conmon-" ID ".scope" };
	static const char *const without[] = { "", "/", "/x" ID, "/" ID "0",
					       "/a/docker-0a1b.scope" };

	for (size_t i = 0; i < ARRAY_SIZE(with); i++) {
		const char *id = session_names_id(with[i]);

		if (!CHECK(id && !strncmp(id, ID, SESSION_NAMES_ID)))
			printf("# %s\n", with[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(without); i++)
		if (!CHECK(!session_names_id(without[i])))
			printf("# %s\n", without[i]);
}

static void names_of_containers_are_kept(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(session_names_freep) struct session_names *c = session_names_new();
	struct error err = ERROR_INIT;

	session_names_read(c, dir);
	CHECK(!session_names_container(c, ID));
	CHECK_EQ(session_names_add(SESSION_NAMES_CONTAINERS, dir, ID, "a", &err), 0);
	CHECK_EQ(session_names_add(SESSION_NAMES_CONTAINERS, dir, OTHER, "tab\tline\n\033", &err),
		 0);
	CHECK_EQ(session_names_add(SESSION_NAMES_CONTAINERS, dir, ID, "b", &err), 0);
	session_names_read(c, dir);
	CHECK_STR(session_names_container(c, ID ".scope"), "b");
	CHECK_STR(session_names_container(c, OTHER), "tab\tline\n\033");
	CHECK(!session_names_container(c, NULL));
	CHECK(!session_names_container(NULL, ID));
	CHECK_EQ(session_names_add(SESSION_NAMES_CONTAINERS, "/nonexistent", ID, "b", &err),
		 -ENOENT);
}

static void names_of_threads_are_kept(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(session_names_freep) struct session_names *n = session_names_new();
	_cleanup_(strbuf_done) struct strbuf lines = STRBUF_INIT;

	session_names_line(&lines, "70.71", "a worker");
	session_names_line(&lines, "70.70", "main\t");
	CHECK_EQ(session_names_append(SESSION_NAMES_THREADS, dir, &lines, NULL), 0);
	CHECK_EQ(session_names_add(SESSION_NAMES_THREADS, dir, "70.71", "renamed", NULL), 0);
	session_names_read(n, dir);
	CHECK_STR(session_names_thread(n, 70, 71), "renamed");
	CHECK_STR(session_names_thread(n, 70, 70), "main\t");
	CHECK_STR(session_names_thread(n, 70, -1), "main\t");
	CHECK(!session_names_thread(n, 70, 7));
	CHECK(!session_names_thread(n, -1, 71));
	CHECK(!session_names_thread(NULL, 70, 71));
}

/* Another session may have another thread of the same number. */
static void names_of_the_first_session_count(void)
{
	_cleanup_directory_ char *first = test_directory(), *second = test_directory();
	_cleanup_(session_names_freep) struct session_names *n = session_names_new();

	CHECK_EQ(session_names_add(SESSION_NAMES_THREADS, first, "7.7", "early", NULL), 0);
	CHECK_EQ(session_names_add(SESSION_NAMES_THREADS, first, "7.7", "server", NULL), 0);
	CHECK_EQ(session_names_add(SESSION_NAMES_THREADS, second, "7.7", "cron", NULL), 0);
	CHECK_EQ(session_names_add(SESSION_NAMES_THREADS, second, "8.8", "cron", NULL), 0);
	session_names_read(n, first);
	session_names_read(n, second);
	CHECK_STR(session_names_thread(n, 7, 7), "server");
	CHECK_STR(session_names_thread(n, 8, 8), "cron");
}

/* Else it would grow for good where threads come and go, until it is too large to be read. */
static void a_large_file_is_set_aside(void)
{
	enum { LINES = 500000 };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(session_names_freep) struct session_names *n = session_names_new();
	_cleanup_(strbuf_done) struct strbuf lines = STRBUF_INIT;
	_cleanup_free_ char *path = path_join(dir, "threads"), *old = path_join(dir, "threads.old");
	struct stat st;
	unsigned int i, round;

	for (i = 0; i < LINES; i++)
		strbuf_addf(&lines, "%u.%u\tgeneral worker\n", i, i);
	for (round = 0; round < 6; round++)
		CHECK_EQ(session_names_append(SESSION_NAMES_THREADS, dir, &lines, NULL), round > 0);
	CHECK_EQ(session_names_add(SESSION_NAMES_THREADS, dir, "7.7", "newer", NULL), 0);
	CHECK_EQ(stat(old, &st), 0);
	CHECK_EQ(st.st_size, lines.length);
	CHECK_EQ(stat(path, &st), 0);
	CHECK(st.st_size < 64);
	session_names_read(n, dir);
	CHECK_STR(session_names_thread(n, 7, 7), "newer");
	CHECK_STR(session_names_thread(n, 8, 8), "general worker");
}

static void count_warning(enum log_level level _unused_, const char *text _unused_, void *data)
{
	++*(int *)data;
}

static void damaged_lines_are_skipped(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(session_names_freep) struct session_names *c = session_names_new();
	_cleanup_free_ char *path = path_join(dir, "containers"),
			    *threads = path_join(dir, "threads");
	int warnings = 0;

	CHECK_EQ(path_write(path,
			    "\nx\ty\n" ID "\t\n" ID "\tbad\\q\n" ID "0\ta\n" OTHER "\tok\n" ID,
			    0644, NULL),
		 0);
	CHECK_EQ(path_write(threads, "1\ta\n1.\ta\n.1\ta\n1.2.3\ta\n-1.2\ta\n1.2\tok", 0644, NULL),
		 0);
	log_to(LOG_LEVEL_WARNING, count_warning, &warnings);
	session_names_read(c, dir);
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	CHECK_EQ(warnings, 2);
	CHECK(!session_names_container(c, ID));
	CHECK_STR(session_names_container(c, OTHER), "ok");
	CHECK_STR(session_names_thread(c, 1, 2), "ok");
}

/* Writes the file @below with its directories. */
static void put(const char *root, const char *below, const char *text)
{
	_cleanup_free_ char *path = path_join(root, below), *dir = xstrdup(path);

	*strrchr(dir, '/') = '\0';
	CHECK_EQ(path_make_dirs(dir, 0755, NULL), 0);
	CHECK_EQ(path_write(path, text, 0644, NULL), 0);
}

static void runtimes_know_their_names(void)
{
	static const struct {
		const char *file, *text, *name;
	} rows[] = {
		{ "var/lib/docker/containers/" ID "/config.v2.json",
		  "{\"Config\":{\"Name\":\"no\"},\"ID\":\"" ID "\",\"Name\":\"/web-1\"}", "web-1" },
		{ "var/lib/docker/containers/" OTHER "/config.v2.json", "{\"Name\":\"/web-1\"}",
		  NULL },
		{ "var/lib/docker/containers/" ID "/config.v2.json", "{\"Name\":\"", NULL },
		{ "var/lib/docker/containers/" ID "/config.v2.json", "{\"Name\":\"/\"}", NULL },
		{ "var/lib/containers/storage/overlay-containers/containers.json",
		  "[{\"id\":\"" OTHER "\",\"names\":[\"no\"]},{\"id\":\"" ID
		  "\",\"names\":[\"db\",\"b\"]}]",
		  "db" },
		{ "var/lib/containers/storage/vfs-containers/volatile-containers.json",
		  "[{\"id\":\"" ID "\",\"names\":[\"once\"]}]", "once" },
		{ "var/lib/containers/storage/overlay-containers/containers.json",
		  "[{\"id\":\"" ID "\",\"names\":[]},{\"id\":\"" OTHER "\",\"names\":[\"no\"]}]",
		  NULL },
		{ "var/log/containers/web-7d4b_shop_nginx-" ID ".log", "", "shop/web-7d4b/nginx" },
		{ "var/log/containers/web-7d4b_shop_nginx-" OTHER ".log", "", NULL },
		{ "var/log/containers/web-" ID ".log", "", NULL },
		{ "var/log/containers/a_b_c-" ID ".gz", "", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_directory_ char *root = test_directory();
		_cleanup_free_ char *name = NULL;

		put(root, rows[i].file, rows[i].text);
		name = runtime_name(root, ID ".scope");
		if (!CHECK(!name == !rows[i].name && !strcmp(name ?: "", rows[i].name ?: "")))
			printf("# row %zu: '%s'\n", i, name ?: "(none)");
	}
}

TESTS(T(ids_are_found_in_paths), T(names_of_containers_are_kept), T(names_of_threads_are_kept),
      T(names_of_the_first_session_count), T(a_large_file_is_set_aside),
      T(damaged_lines_are_skipped), T(runtimes_know_their_names))
