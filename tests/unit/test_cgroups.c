/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "identity/cgroups.h"
#include "identity/cookie.h"

#include <sys/stat.h>

static const char *path_of(const struct cookie_table *cookies, uint64_t cookie)
{
	const struct cookie_image *image = cookie_lookup(cookies, cookie);

	return image && image->kind == COOKIE_CGROUP ? image->path : NULL;
}

/* A machine on which no hierarchy is mounted. */
static char *bare_machine(void)
{
	char *root = test_directory();
	_cleanup_free_ char *proc = path_join(root, "proc/self");
	_cleanup_free_ char *mounts = path_join(proc, "mountinfo");

	CHECK_EQ(path_make_dirs(proc, 0755, NULL), 0);
	CHECK_EQ(path_write(mounts, "22 1 0:21 / /proc rw - proc proc rw\n", 0644, NULL), 0);
	return root;
}

static void what_is_reported_is_known(void)
{
	_cleanup_directory_ char *root = bare_machine();
	struct cookie_table *cookies = cookie_table_new();
	struct cgroups *t = cgroups_new(root, CGROUPS_UNIFIED, cookies);
	uint64_t a;

	cgroups_add(t, 0x100000007, "/a");
	cgroups_add(t, 8, "/a/b");
	a = cgroups_cookie(t, 0x100000007, 1);
	CHECK_STR(path_of(cookies, a), "/a");
	CHECK_STR(path_of(cookies, cgroups_cookie(t, 8, 2)), "/a/b");
	/* The BPF program reports the lower half. */
	CHECK_EQ(cgroups_cookie(t, 7, 3), a);
	/* A number comes again only with another upper half. */
	cgroups_add(t, 0x200000007, "/c");
	CHECK_STR(path_of(cookies, cgroups_cookie(t, 7, 4)), "/c");
	/* One that is made again is the same. */
	cgroups_add(t, 9, "/a");
	CHECK_EQ(cgroups_cookie(t, 9, 5), a);
	cgroups_free(t);
	cookie_table_free(cookies);
}

/* Containers that come and go, while one stays. */
static void cgroups_that_are_gone_make_way(void)
{
	_cleanup_directory_ char *root = bare_machine();
	struct cookie_table *cookies = cookie_table_new();
	struct cgroups *t = cgroups_new(root, CGROUPS_UNIFIED, cookies);
	uint64_t stays, first, i;

	cgroups_add(t, 1, "/stays");
	cgroups_add(t, 2, "/first");
	stays = cgroups_cookie(t, 1, 1);
	first = cgroups_cookie(t, 2, 1);
	cookie_age(cookies);
	for (i = 3; i < 50000; i++) {
		_cleanup_free_ char *path = xasprintf("/%u", (unsigned int)i);

		cgroups_add(t, i, path);
		CHECK_EQ(cgroups_cookie(t, 1, 1), stays);
		CHECK_STR(path_of(cookies, cgroups_cookie(t, i, 1)), path);
	}
	CHECK_STR(path_of(cookies, cgroups_cookie(t, 2, 1)), CGROUPS_UNKNOWN);
	CHECK(cookie_sweep(cookies, NULL) > 0 && !cookie_lookup(cookies, first));
	/* A cookie that was swept is made again. */
	cookie_age(cookies);
	CHECK(cookie_sweep(cookies, NULL) > 0 && !cookie_lookup(cookies, stays));
	CHECK_STR(path_of(cookies, cgroups_cookie(t, 1, 1)), "/stays");
	cgroups_free(t);
	cookie_table_free(cookies);
}

static void cgroups_never_reported_are_unknown(void)
{
	_cleanup_directory_ char *root = bare_machine();
	struct cookie_table *cookies = cookie_table_new();
	struct cgroups *t = cgroups_new(root, CGROUPS_PERF, cookies);

	CHECK_STR(path_of(cookies, cgroups_cookie(t, 5, 1)), CGROUPS_UNKNOWN);
	cgroups_add(t, 5, "/late");
	CHECK_STR(path_of(cookies, cgroups_cookie(t, 5, 2)), "/late");
	cgroups_free(t);
	cookie_table_free(cookies);
}

static void the_one_that_we_are_in_is_found(void)
{
	struct cookie_table *cookies = cookie_table_new();
	struct cgroups *t = cgroups_new("", CGROUPS_UNIFIED, cookies);
	const char *path = path_of(cookies, cgroups_cookie(t, 1, 1));

	/* The first one has the number 1 everywhere, if it can be seen. */
	if (!path || !strcmp(path, CGROUPS_UNKNOWN)) {
		cgroups_free(t);
		cookie_table_free(cookies);
		SKIP("the root of no cgroup2 hierarchy is mounted");
	}
	CHECK_STR(path, "/");
	cgroups_free(t);
	cookie_table_free(cookies);
}

TESTS(T(what_is_reported_is_known), T(cgroups_that_are_gone_make_way),
      T(cgroups_never_reported_are_unknown), T(the_one_that_we_are_in_is_found))
