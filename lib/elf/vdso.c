/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/vdso.h"

#include "base/mem.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "file/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/auxv.h>

/* Stops at the mapping that starts where the auxiliary vector says. */
static int find_end(const struct maps_line *line, void *data)
{
	uint64_t *end = data;

	if (line->start != getauxval(AT_SYSINFO_EHDR))
		return 0;
	*end = line->end;
	return 1;
}

void *vdso_image(void)
{
	return (void *)getauxval(AT_SYSINFO_EHDR);
}

uint64_t vdso_size(void)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR), end = start;

	if (start)
		(void)procfs_maps("", (uint32_t)getpid(), find_end, &end);
	return end - start;
}

int vdso_save(const char *path, struct error *err)
{
	size_t size = (size_t)vdso_size();
	_cleanup_free_ char *temporary = xasprintf("%s.%d.tmp", path, (int)getpid());
	_cleanup_close_ int fd = -1;
	ssize_t n;
	int r = 0;

	if (!size)
		return error_set(err, -ENODATA, "this process has no vdso");
	if (access(path, F_OK) == 0)
		return 0;
	fd = open_regular_new(temporary, O_WRONLY, 0644);
	if (fd < 0)
		return error_errno(err, fd, "cannot create %s", path);
	n = write(fd, (const void *)getauxval(AT_SYSINFO_EHDR), size);
	if (n != (ssize_t)size)
		r = n < 0 ? -errno : -ENOSPC;
	r = path_put(temporary, path, 0, r);
	return r < 0 ? error_errno(err, r, "cannot write %s", path) : 0;
}
