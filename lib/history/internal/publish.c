/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/internal/publish.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/open_regular.h"
#include "file/path.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int publish(const char *path, const char *temporary, const struct strbuf *bytes, int64_t written_s)
{
	const struct timespec times[2] = { { written_s, 0 }, { written_s, 0 } };
	_cleanup_close_ int fd = open_regular_new(temporary, O_WRONLY, 0644);
	size_t at = 0;
	int r = 0;

	if (fd < 0)
		return fd;
	while (r == 0 && at < bytes->length) {
		ssize_t n = write(fd, bytes->text + at, bytes->length - at);

		r = n < 0 ? -errno : n == 0 ? -ENOSPC : 0;
		at += n > 0 ? (size_t)n : 0;
	}
	if (r == 0 && futimens(fd, times) < 0)
		r = -errno;
	r = path_publish(fd, temporary, path, r);
	return r == PATH_UNSYNCED ? -EIO : r;
}
