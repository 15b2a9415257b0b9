/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/annotate/internal/source_copy.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/open_regular.h"
#include "file/owner.h"
#include "file/path.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

char *source_copy_path(const char *directory, const char *path)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	strbuf_adds(&out, directory);
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n && !(n == 1 && path[0] == '.') && !(n == 2 && !strncmp(path, "..", 2)))
			strbuf_addf(&out, "/%.*s", (int)n, path);
		path += n + (path[n] == '/');
	}
	return strbuf_take(&out);
}

int source_copy_create(const char *path, FILE *source, FILE **ret, struct error *err)
{
	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();
	struct stat st, there;
	mode_t mode = 0666;
	int r = path_make_parents(path, 0777, err), fd;

	if (r < 0)
		return r;
	if (source) {
		if (fstat(fileno(source), &st) < 0)
			return error_errno(err, -errno, "%s", path);
		if (stat(path, &there) == 0 && there.st_dev == st.st_dev &&
		    there.st_ino == st.st_ino)
			return error_set(err, -EEXIST,
					 "%s is the source itself: choose another --output-dir",
					 path);
		mode &= st.st_mode | 0600;
	}
	fd = open_regular_new(path, O_WRONLY, mode);
	if (fd < 0)
		return error_errno(err, fd, "%s", path);
	*ret = xfdopen(fd, "w");
	return 0;
}
