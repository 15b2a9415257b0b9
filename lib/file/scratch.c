/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file/scratch.h"

#include "base/mem.h"
#include "file/path.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

struct scratch {
	char *path;
	pid_t keeper; /* the child that removes it */
	int alive;    /* our end of a pipe; the keeper waits until it is closed */
};

/* The keeper: lives until the other end of @pipe is closed. It closes all files of the parent,
 * since a pipeline that the tool is part of would wait for them. */
static void keep(const char *path, int pipe)
{
	char nothing;

	(void)setsid(); /* ctrl-C ends only the parent */
	if (dup2(pipe, 0) < 0)
		_exit(1);
	(void)close_range(1, ~0U, 0);
	while (read(0, &nothing, 1) < 0 && errno == EINTR)
		;
	(void)path_remove_tree(path, NULL);
	_exit(0);
}

static int start_keeper(struct scratch *s)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	s->keeper = fork();
	if (s->keeper == 0) {
		(void)close(ends[1]);
		keep(s->path, ends[0]);
	}
	(void)close(ends[0]);
	s->alive = ends[1];
	return s->keeper < 0 ? -errno : 0;
}

/* Making thousands of small files is ten times faster in memory than on a disk. But if they are
 * many and large, memory that is a disk is missing elsewhere. */
static const char *choose_place(uint64_t room)
{
	static const char *const memory = "/dev/shm", *const disk = "/var/tmp";
	const char *given = getenv("TMPDIR");
	struct statvfs fs;

	if (given && *given)
		return given;
	if (access(memory, W_OK | X_OK) == 0 && statvfs(memory, &fs) == 0 &&
	    fs.f_bavail / 4 > room / fs.f_frsize)
		return memory;
	return access(disk, W_OK | X_OK) == 0 ? disk : "/tmp";
}

static int make(const char *below, const char *name, struct scratch **ret, struct error *err)
{
	_cleanup_free_ char *last = xasprintf("%s.XXXXXX", name);
	_cleanup_free_ char *path = path_join(below, last);
	struct scratch *s;

	if (!mkdtemp(path))
		return error_errno(err, -errno, "cannot create a directory in %s", below);
	s = xcalloc(1, sizeof(*s));
	s->alive = -1;
	s->path = STEAL(path);
	*ret = s;
	return 0;
}

int scratch_new(const char *name, uint64_t room, struct scratch **ret, struct error *err)
{
	_cleanup_(scratch_freep) struct scratch *s = NULL;
	int r = make(choose_place(room), name, &s, err);

	if (r < 0)
		return r;
	r = start_keeper(s);
	if (r < 0)
		return error_errno(err, r, "cannot start a process");
	*ret = STEAL(s);
	return 0;
}

int scratch_below(const char *directory, const char *name, struct scratch **ret, struct error *err)
{
	_cleanup_(scratch_freep) struct scratch *s = NULL;
	int r = make(directory, name, &s, err);

	if (r == 0)
		*ret = STEAL(s);
	return r;
}

const char *scratch_path(const struct scratch *s)
{
	return s->path;
}

void scratch_forget(struct scratch *s)
{
	if (s->alive >= 0)
		(void)close(s->alive);
	free(s->path);
	free(s);
}

void scratch_free(struct scratch *s)
{
	pid_t keeper;

	if (!s)
		return;
	keeper = s->keeper;
	(void)path_remove_tree(s->path, NULL);
	scratch_forget(s);
	while (keeper > 0 && waitpid(keeper, NULL, 0) < 0 && errno == EINTR)
		;
}
