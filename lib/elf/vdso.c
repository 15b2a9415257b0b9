/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf/vdso.h"

#include "base/mem.h"
#include "file/open_regular.h"
#include "file/path.h"
#include "file/procfs.h"
#include "helper/child.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

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

static int put_file(const char *path, const void *bytes, size_t size, struct error *err)
{
	_cleanup_free_ char *temporary = xasprintf("%s.%d.tmp", path, (int)getpid());
	_cleanup_close_ int fd = open_regular_new(temporary, O_WRONLY, 0644);
	ssize_t n;
	int r = 0;

	if (fd < 0)
		return error_errno(err, fd, "cannot create %s", path);
	n = write(fd, bytes, size);
	if (n != (ssize_t)size)
		r = n < 0 ? -errno : -ENOSPC;
	r = path_put(temporary, path, 0, r);
	return r < 0 ? error_errno(err, r, "cannot write %s", path) : 0;
}

int vdso_save(const char *path, struct error *err)
{
	size_t size = (size_t)vdso_size();

	if (!size)
		return error_set(err, -ENODATA, "this process has no vdso");
	if (access(path, F_OK) == 0)
		return 0;
	return put_file(path, vdso_image(), size, err);
}

/* --- that of 32-bit processes --- */

enum { REGIONS_MAX = 8, BYTES_MAX = 64 << 10 };

/* Memory that the kernel gave this process: the vdso, and the data that its code reads. */
struct regions {
	struct maps_line all[REGIONS_MAX];
	size_t count;
	struct maps_line code; /* the vdso's; 0 if there is none */
};

static int note_region(const struct maps_line *line, void *data)
{
	struct regions *regions = data;
	bool is_code = !strcmp(line->path, "[vdso]");

	if (is_code)
		regions->code = *line;
	if (is_code || !strncmp(line->path, "[vvar", strlen("[vvar")))
		regions->all[regions->count++] = *line;
	return regions->count == REGIONS_MAX;
}

/* Has the kernel replace this process's vdso, if it can (arch_prctl(2); its CRIU needs that). 0 or
 * -errno. */
static int map_32(void)
{
#ifdef __x86_64__
	enum { MAP_VDSO_32 = 0x2002 }; /* ARCH_MAP_VDSO_32 in asm/prctl.h */
	struct regions old = { .count = 0 };
	size_t i;

	(void)procfs_maps("", (uint32_t)getpid(), note_region, &old);
	for (i = 0; i < old.count; i++)
		if (munmap((void *)old.all[i].start, old.all[i].end - old.all[i].start) < 0)
			return -errno;
	return syscall(SYS_arch_prctl, MAP_VDSO_32, 0) < 0 ? -errno : 0;
#else
	return -ENODATA;
#endif
}

/* Runs in the child, which must not ask for the time from here on: libc calls the old vdso. */
static void send_32(int socket)
{
	struct regions found = { .count = 0 };

	if (map_32() < 0)
		return;
	(void)procfs_maps("", (uint32_t)getpid(), note_region, &found);
	(void)!write(socket, (void *)found.code.start, found.code.end - found.code.start);
}

static int read_32(void **ret, size_t *ret_size)
{
	_cleanup_free_ char *bytes = xmalloc(BYTES_MAX);
	int socket = -1;
	pid_t pid = child_start("oprofile-vdso", &socket);
	ssize_t n;

	if (pid < 0)
		return pid;
	if (pid == 0) {
		send_32(socket);
		_exit(0);
	}
	n = TEMP_FAILURE_RETRY(read(socket, bytes, BYTES_MAX));
	(void)close(socket);
	child_wait(pid);
	if (n <= 0)
		return -ENODATA;
	*ret = STEAL(bytes);
	*ret_size = (size_t)n;
	return 0;
}

/* Never freed. */
static struct {
	void *bytes;
	size_t size;
} held_32;

void vdso_hold_32(void)
{
	if (!held_32.bytes)
		(void)read_32(&held_32.bytes, &held_32.size);
}

int vdso_read_32(void **ret, size_t *ret_size)
{
	if (!held_32.bytes)
		return read_32(ret, ret_size);
	*ret = xmemdup(held_32.bytes, held_32.size);
	*ret_size = held_32.size;
	return 0;
}

int vdso_save_32(const char *path, struct error *err)
{
	_cleanup_free_ void *bytes = NULL;
	size_t size;
	int r;

	if (access(path, F_OK) == 0)
		return 0;
	r = vdso_read_32(&bytes, &size);
	if (r < 0)
		return error_errno(err, r, "cannot read the vdso of 32-bit programs");
	return put_file(path, bytes, size, err);
}
