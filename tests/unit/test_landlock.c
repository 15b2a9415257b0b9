/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/helper/landlock.c: what a confined process can still change. */
#include "test.h"

#include "helper/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

struct scene {
	char *ours, *outside; /* files in a directory that may be written, and in another one */
	int open;	      /* a descriptor of ->outside */
};

/* Everything that a confined process must and must not be able to do; 0 or the line that fails. */
static int act(const struct scene *s)
{
	_cleanup_free_ char *moved = xasprintf("%s.moved", s->ours);
	char byte;

	if (path_write(s->ours, "new", 0600, NULL) < 0)
		return __LINE__;
	if (rename(s->ours, moved) < 0 || unlink(moved) < 0)
		return __LINE__;
	if (open(s->outside, O_WRONLY | O_CLOEXEC) >= 0 || errno != EACCES)
		return __LINE__;
	if (unlink(s->outside) == 0 || errno != EACCES)
		return __LINE__;
	if (execl("/bin/true", "true", NULL) == 0 || errno != EACCES)
		return __LINE__;
	if (pread(s->open, &byte, 1, 0) != 1 || pwrite(s->open, &byte, 1, 0) != 1)
		return __LINE__;
	return access(s->outside, R_OK) < 0 ? __LINE__ : 0;
}

/* Runs act() in a process of its own; what it returned, or -ENOSYS without Landlock. */
static int act_confined(const struct scene *s, const char *writable)
{
	const char *const directories[] = { NULL, writable };
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		int r = landlock_enter(directories, ARRAY_SIZE(directories), NULL);

		_exit(r == -ENOSYS ? 255 : r < 0 ? 254 : act(s));
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status) == 255 ? -ENOSYS : WEXITSTATUS(status);
}

static void only_named_directories_are_writable(void)
{
	_cleanup_directory_ char *in = test_directory();
	_cleanup_directory_ char *out = test_directory();
	struct scene s = { .ours = path_join(in, "file"), .outside = path_join(out, "file") };
	int r;

	CHECK_EQ(path_write(s.ours, "x", 0600, NULL), 0);
	CHECK_EQ(path_write(s.outside, "x", 0600, NULL), 0);
	s.open = open(s.outside, O_RDWR | O_CLOEXEC);
	r = act_confined(&s, in);
	if (r != -ENOSYS)
		CHECK_EQ(r, 0);
	(void)close(s.open);
	free(s.ours);
	free(s.outside);
}

/* What a process that may open nothing must not be able to do; 0 or the line that fails. */
static int act_closed(const struct scene *s)
{
	char byte;

	if (open(s->outside, O_RDONLY | O_CLOEXEC) >= 0 || errno != EACCES)
		return __LINE__;
	if (open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0 || errno != EACCES)
		return __LINE__;
	if (open(s->outside, O_WRONLY | O_CLOEXEC) >= 0 || errno != EACCES)
		return __LINE__;
	return pread(s->open, &byte, 1, 0) == 1 ? 0 : __LINE__;
}

static void a_closed_process_cannot_read_either(void)
{
	_cleanup_directory_ char *out = test_directory();
	struct scene s = { .outside = path_join(out, "file") };
	int status = 0;
	pid_t pid;

	CHECK_EQ(path_write(s.outside, "x", 0600, NULL), 0);
	s.open = open(s.outside, O_RDONLY | O_CLOEXEC);
	pid = fork();
	if (pid == 0) {
		int r = landlock_enter_closed(NULL);

		_exit(r == -ENOSYS ? 0 : r < 0 ? 254 : act_closed(&s));
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 0);
	(void)close(s.open);
	free(s.outside);
}

static void missing_directory_is_an_error(void)
{
	static const char *const none[] = { "/none" };
	struct error err = ERROR_INIT;
	int r = landlock_enter(none, 1, &err);

	if (r != -ENOSYS)
		CHECK_EQ(r, -ENOENT);
}

TESTS(T(only_named_directories_are_writable), T(missing_directory_is_an_error),
      T(a_closed_process_cannot_read_either))
