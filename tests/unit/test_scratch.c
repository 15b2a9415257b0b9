/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/file/scratch.c: the directory goes with its owner, however that ends. */
#include "test.h"

#include "file/scratch.h"

#include <errno.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void fill(const struct scratch *s)
{
	_cleanup_free_ char *file = path_join(scratch_path(s), "a/b/c");

	CHECK_EQ(path_make_parents(file, 0700, NULL), 0);
	CHECK_EQ(path_write(file, "x", 0600, NULL), 0);
}

static void freed_directory_is_gone(void)
{
	_cleanup_directory_ char *below = test_directory();
	struct scratch *s = NULL;
	struct stat st = { 0 };
	_cleanup_free_ char *path = NULL;

	CHECK_EQ(setenv("TMPDIR", below, 1), 0);
	CHECK_EQ(scratch_new("name", 1, &s, NULL), 0);
	path = xstrdup(scratch_path(s));
	CHECK(!strncmp(path, below, strlen(below)));
	CHECK(stat(path, &st) == 0 && (st.st_mode & 07777) == 0700);
	fill(s);
	scratch_free(s);
	CHECK(access(path, F_OK) < 0);
	(void)unsetenv("TMPDIR");
}

static void killed_owner_leaves_nothing(void)
{
	_cleanup_directory_ char *below = test_directory();
	int told[2], gone = -1, changes = inotify_init1(IN_CLOEXEC);
	pid_t owner;
	char path[256] = "", event[4096];
	ssize_t n;

	CHECK_EQ(setenv("TMPDIR", below, 1), 0);
	CHECK_EQ(pipe(told), 0);
	CHECK(inotify_add_watch(changes, below, IN_DELETE) >= 0);
	owner = fork();
	if (owner == 0) {
		struct scratch *s = NULL;

		(void)scratch_new("name", 1, &s, NULL);
		fill(s);
		n = write(told[1], scratch_path(s), strlen(scratch_path(s)));
		(void)raise(SIGKILL);
	}
	n = read(told[0], path, sizeof(path) - 1);
	CHECK(n > 0);
	(void)waitpid(owner, &gone, 0);
	CHECK(WIFSIGNALED(gone));
	while (access(path, F_OK) == 0)
		CHECK(read(changes, event, sizeof(event)) > 0);
	(void)close(changes);
	(void)close(told[0]);
	(void)close(told[1]);
	(void)unsetenv("TMPDIR");
}

/* Makes a directory that no process uses, as one is left when all that knew it are killed. */
static char *left(const char *below, const char *name, mode_t mode)
{
	char *path = path_join(below, name);
	_cleanup_free_ char *file = path_join(path, "a/b");

	CHECK_EQ(path_make_parents(file, 0700, NULL), 0);
	CHECK_EQ(path_write(file, "x", 0600, NULL), 0);
	CHECK_EQ(chmod(path, mode), 0);
	return path;
}

static void what_was_left_is_swept(void)
{
	_cleanup_directory_ char *below = test_directory();
	_cleanup_free_ char *old = left(below, "name-scratch.abcdef", 0700);
	_cleanup_free_ char *other = left(below, "eman-scratch.abcdef", 0700);
	_cleanup_free_ char *open = left(below, "name-scratch.ghijkl", 0755);
	_cleanup_free_ char *longer = left(below, "name-scratch.backups", 0700);
	struct scratch *a = NULL, *b = NULL;

	CHECK_EQ(setenv("TMPDIR", below, 1), 0);
	CHECK_EQ(scratch_new("name", 1, &a, NULL), 0);
	CHECK(access(old, F_OK) < 0);
	CHECK(access(other, F_OK) == 0 && access(open, F_OK) == 0 && access(longer, F_OK) == 0);
	CHECK_EQ(scratch_new("name", 1, &b, NULL), 0);
	CHECK_EQ(access(scratch_path(a), F_OK), 0);
	scratch_free(a);
	CHECK_EQ(access(scratch_path(b), F_OK), 0);
	scratch_free(b);
	(void)unsetenv("TMPDIR");
}

static void no_directory_is_said(void)
{
	struct error err = ERROR_INIT;
	struct scratch *s = NULL;

	CHECK_EQ(setenv("TMPDIR", "/none", 1), 0);
	CHECK_EQ(scratch_new("name", 1, &s, &err), -ENOENT);
	CHECK_STR(err.text, "cannot create a directory in /none: No such file or directory");
}

TESTS(T(freed_directory_is_gone), T(killed_owner_leaves_nothing), T(what_was_left_is_swept),
      T(no_directory_is_said))
