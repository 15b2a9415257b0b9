/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/vdso.h"

#include "base/path.h"
#include "base/procfs.h"

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
	_cleanup_close_ int fd = -1;
	ssize_t n;

	if (!size)
		return error_set(err, -ENODATA, "this process has no vdso");
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return errno == EEXIST ? 0 : error_errno(err, -errno, "cannot create %s", path);
	n = write(fd, (const void *)getauxval(AT_SYSINFO_EHDR), size);
	if (n == (ssize_t)size)
		return 0;
	(void)unlink(path);
	return error_errno(err, n < 0 ? -errno : -ENOSPC, "cannot write %s", path);
}
