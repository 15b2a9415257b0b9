/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/profile/archive/archive_plan.c, in addition to tests/golden/oparchive: paths that would leave
 * the archive. */
#include "test.h"

#include "file/copy.h"
#include "profile/archive/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static void paths_that_leave_the_archive_are_unsafe(void)
{
	static const struct {
		const char *path;
		bool safe;
	} cases[] = {
		{ "/usr/bin/xz", true },     { "/", true },
		{ "/a/..b/c.", true },	     { "/a/.../b", true },
		{ "/a/b (deleted)", true },  { "", false },
		{ "usr/bin/xz", false },     { "/..", false },
		{ "/../etc/passwd", false }, { "/usr/../../etc", false },
		{ "/usr/.", false },	     { "/usr/./bin", false },
		{ "/usr//..", false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (!CHECK(path_stays_below(cases[i].path) == cases[i].safe))
			printf("# %s\n", cases[i].path);
}

static void failed_archive_leaves_no_session(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_free_ char *from = path_join(directory, "abi");
	_cleanup_free_ char *to = path_join(directory, "kept");
	_cleanup_free_ char *session = path_join(to, "var/lib/oprofile");
	struct archive_file files[] = { { from, "/var/lib/oprofile/abi" },
					{ "/no/such/file", "/usr/bin/gone" } };
	struct archive a = { .files = files, .count = ARRAY_SIZE(files) };
	struct error err = ERROR_INIT;

	CHECK_EQ(path_write(from, "x 1\n", 0640, &err), 0);
	CHECK_EQ(archive_write(&a, to, &err), -ENOENT);
	CHECK_STR(err.text, "cannot read /no/such/file: No such file or directory");
	CHECK(access(session, F_OK) < 0);
	a.count = 1;
	CHECK_EQ(archive_write(&a, to, &err), 0);
	CHECK_EQ(archive_write(&a, to, &err), -EEXIST);
}

static void copies_keep_mode_and_time_and_replace(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_free_ char *from = path_join(directory, "from");
	_cleanup_free_ char *to = path_join(directory, "a/b/to");
	const struct timespec times[2] = { { .tv_sec = 5 }, { .tv_sec = 1000000000 } };
	struct error err = ERROR_INIT;
	struct stat st = { 0 };

	CHECK_EQ(path_write(from, "one", 0600, &err), 0);
	CHECK_EQ(copy_file(from, 0, to, &err), 0);
	CHECK_EQ(path_write(from, "three", 0751, &err), 0);
	CHECK_EQ(chmod(from, 04751), 0);
	CHECK_EQ(utimensat(AT_FDCWD, from, times, 0), 0);
	CHECK_EQ(copy_file(from, 0, to, &err), 0);
	CHECK_EQ(stat(to, &st), 0);
	CHECK_EQ(st.st_size, 5);
	CHECK_EQ(st.st_mode & 07777, 0751);
	CHECK_EQ(st.st_mtim.tv_sec, 1000000000);
	CHECK_EQ(copy_file(directory, 0, to, &err), -EISDIR);
	CHECK_EQ(copy_file("/proc/self/status", 0, to, &err), 0);
	CHECK(stat(to, &st) == 0 && st.st_size > 100);
}

TESTS(T(paths_that_leave_the_archive_are_unsafe), T(failed_archive_leaves_no_session),
      T(copies_keep_mode_and_time_and_replace))
