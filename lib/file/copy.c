/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file/copy.h"

#include "base/mem.h"
#include "file/open_regular.h"
#include "file/owner.h"
#include "file/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

enum { PIECE = 256 << 10 };

static int write_piece(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			bytes += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

/* Copies from the present position to the end. */
static int copy_bytes(int from, int to)
{
	_cleanup_free_ char *piece = xmalloc(PIECE);
	ssize_t n;
	int r = 0;

	while (r == 0 && (n = read(from, piece, PIECE)) != 0) {
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			r = write_piece(to, piece, (size_t)n);
	}
	return r;
}

/* Creates the copy with the permissions of the original, but never its set-user-id bits. Not by
 * fchmod(2): the sandbox of the tools forbids it, since it works on files of others, too. */
static int create_copy(const struct stat *st, const char *to)
{
	mode_t mask = umask(0);
	int fd = open_regular_new(to, O_WRONLY, (st->st_mode & 0777) | 0200);

	(void)umask(mask);
	return fd;
}

static int copy_open(int from, const struct stat *st, const char *to)
{
	struct timespec times[2] = { st->st_atim, st->st_mtim };
	_cleanup_close_ int fd = create_copy(st, to);
	int r;

	if (fd < 0)
		return fd;
	r = copy_bytes(from, fd);
	if (r == 0 && futimens(fd, times) < 0)
		r = -errno;
	return r;
}

/* Writes as root if this process has only borrowed another user's rights. */
static int write_copy(int from, const struct stat *st, const char *to)
{
	_cleanup_free_ char *temporary = xasprintf("%s.%d.tmp", to, (int)getpid());
	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();
	int r = path_make_parents(to, 0755, NULL);

	if (r == 0)
		r = copy_open(from, st, temporary);
	/* Without a sync, as cp(1): the original remains. */
	return path_put(temporary, to, 0, r);
}

int copy_file(const char *from, int flags, const char *to, struct error *err)
{
	_cleanup_close_ int fd = open_regular(from, O_RDONLY | flags);
	struct stat st;
	int r;

	if (fd < 0)
		return error_set(err, fd, "cannot read %s: %s", from, open_regular_why(fd));
	if (fstat(fd, &st) < 0)
		return error_errno(err, -errno, "cannot read %s", from);
	r = write_copy(fd, &st, to);
	return r < 0 ? error_errno(err, r, "cannot copy %s to %s", from, to) : 0;
}
