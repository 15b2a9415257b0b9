/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file/scratch.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/dirtree.h"
#include "file/path.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

struct scratch {
	char *path;
	pid_t keeper; /* the child that removes it */
	int alive;    /* our end of a pipe; the keeper waits until it is closed */
	int lock;     /* the directory, locked as long as it is in use; -1: it is not locked */
};

/* The keeper: lives until the other end of @pipe is closed. It closes all files of the parent,
 * since a pipeline that the tool is part of would wait for them. */
static void keep(const char *path, int pipe)
{
	char nothing;
	sigset_t all;

	(void)setsid(); /* ctrl-C ends only the parent */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
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

/* --- what others left --- */

/* The end of names: what is swept away must not be something that a person named. */
#define SUFFIX "-scratch."
#define RANDOM "XXXXXX"

/* Whether nobody uses the directory @fd of this user: who made it has ended. */
static bool is_left(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (int)st.st_uid == setfsuid((uid_t)-1) &&
	       (st.st_mode & 07777) == 0700 && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/* Removes the directories of this name whose keeper was killed, too, or had no memory. */
static void sweep(const char *below, const char *name)
{
	_cleanup_free_ char *start = xasprintf("%s" SUFFIX, name);
	_cleanup_close_ int at = open(below, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	size_t length = strlen(start), i = 0;
	const char *entry;

	if (at < 0 || dirtree_names_of(below, &names) < 0)
		return;
	while ((entry = dirtree_next_name(&names, &i))) {
		_cleanup_close_ int fd = -1;

		if (strncmp(entry, start, length) != 0 || strlen(entry) != length + strlen(RANDOM))
			continue;
		fd = dirtree_open(at, entry, NULL);
		if (fd >= 0 && is_left(fd))
			(void)dirtree_remove(at, entry, NULL);
	}
}

/* --- making one --- */

static int make(const char *below, const char *name, struct scratch **ret, struct error *err)
{
	_cleanup_free_ char *last = xasprintf("%s" SUFFIX RANDOM, name);
	_cleanup_free_ char *path = path_join(below, last);
	struct scratch *s;

	if (!mkdtemp(path))
		return error_errno(err, -errno, "cannot create a directory in %s", below);
	s = xcalloc(1, sizeof(*s));
	s->alive = s->lock = -1;
	s->path = STEAL(path);
	*ret = s;
	return 0;
}

/* Locks the directory. False if another process swept it away before. Where directories cannot be
 * locked, they are not swept either. */
static bool lock(struct scratch *s)
{
	s->lock = open(s->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->lock >= 0 && flock(s->lock, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return false;
	return access(s->path, F_OK) == 0 || errno != ENOENT;
}

int scratch_new(const char *name, uint64_t room, struct scratch **ret, struct error *err)
{
	_cleanup_(scratch_freep) struct scratch *s = NULL;
	const char *place = choose_place(room);
	int r;

	sweep(place, name);
	for (;;) {
		r = make(place, name, &s, err);
		if (r < 0)
			return r;
		if (lock(s))
			break;
		scratch_free(STEAL(s));
	}
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
	if (s->lock >= 0)
		(void)close(s->lock);
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
