/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of a session, and the files of runtimes: lib/sfile/containers.c,
 * lib/identity/runtime_name.c. */
#include "test.h"

#include "base/log.h"
#include "base/strbuf.h"
#include "identity/runtime_name.h"
#include "sfile/containers.h"

#include <errno.h>

#define ID    "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"
#define OTHER "1a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"

static void ids_are_found_in_paths(void)
{
	static const char *const with[] = { ID, "/docker/" ID "/x", "/a/docker-" ID ".scope",
					    "/crio-conmon-" ID ".scope" };
	static const char *const without[] = { "", "/", "/x" ID, "/" ID "0",
					       "/a/docker-0a1b.scope" };

	for (size_t i = 0; i < ARRAY_SIZE(with); i++) {
		const char *id = containers_id(with[i]);

		if (!CHECK(id && !strncmp(id, ID, CONTAINERS_ID)))
			printf("# %s\n", with[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(without); i++)
		if (!CHECK(!containers_id(without[i])))
			printf("# %s\n", without[i]);
}

static void names_are_kept_with_the_session(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(containers_freep) struct containers *c = containers_new();
	struct error err = ERROR_INIT;

	containers_read(c, dir);
	CHECK(!containers_name(c, ID));
	CHECK_EQ(containers_add(dir, ID "/below", "a", &err), 0);
	CHECK_EQ(containers_add(dir, OTHER, "tab\tline\n\033", &err), 0);
	CHECK_EQ(containers_add(dir, ID, "b", &err), 0);
	containers_read(c, dir);
	CHECK_STR(containers_name(c, ID ".scope"), "b");
	CHECK_STR(containers_name(c, OTHER), "tab\tline\n\033");
	CHECK(!containers_name(c, NULL));
	CHECK(!containers_name(NULL, ID));
	CHECK_EQ(containers_add("/nonexistent", ID, "b", &err), -ENOENT);
}

static void count_warning(enum log_level level _unused_, const char *text _unused_, void *data)
{
	++*(int *)data;
}

static void damaged_lines_are_skipped(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_(containers_freep) struct containers *c = containers_new();
	_cleanup_free_ char *path = path_join(dir, "containers");
	int warnings = 0;

	CHECK_EQ(path_write(path,
			    "\nx\ty\n" ID "\t\n" ID "\tbad\\q\n" ID "0\ta\n" OTHER "\tok\n" ID,
			    0644, NULL),
		 0);
	log_to(LOG_LEVEL_WARNING, count_warning, &warnings);
	containers_read(c, dir);
	log_to(LOG_LEVEL_WARNING, NULL, NULL);
	CHECK_EQ(warnings, 1);
	CHECK(!containers_name(c, ID));
	CHECK_STR(containers_name(c, OTHER), "ok");
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

TESTS(T(ids_are_found_in_paths), T(names_are_kept_with_the_session), T(damaged_lines_are_skipped),
      T(runtimes_know_their_names))
