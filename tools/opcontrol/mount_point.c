/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opcontrol/mount_point.h"

#include "base/mem.h"
#include "file/path.h"
#include "tools/opcontrol/daemon_process.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* Whether oprofilefs is mounted there, with or without a server. */
static bool is_mounted(const char *where)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *entry;
	bool found = false;

	while (mounts && !found && (entry = getmntent(mounts)))
		found = !strcmp(entry->mnt_dir, where) &&
			!strcmp(entry->mnt_type, "fuse.oprofilefs");
	if (mounts)
		(void)endmntent(mounts);
	return found;
}

int mount_point_mount(const char *session_dir, const char *where, struct error *err)
{
	static const char *const places[] = { "oprofilefs" };
	_cleanup_free_ char *program =
		daemon_find_program("OPROFILEFS", places, ARRAY_SIZE(places));
	_cleanup_free_ char *session_arg = xasprintf("--session-dir=%s", session_dir);
	char *argv[] = { (char *)"oprofilefs", session_arg, (char *)where, NULL };
	struct statx st;
	int r, found = statx(AT_FDCWD, where, AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &st);

	/* A mount without a server is replaced. */
	if (found == 0 && is_mounted(where))
		return error_set(err, -EBUSY, "%s: oprofilefs is already mounted there", where);
	r = found < 0 && errno == ENOENT ? path_make_dirs(where, 0755, err) : 0;
	return r < 0 ? r : daemon_spawn(program, argv, err);
}

int mount_point_umount(const char *where, struct error *err)
{
	char *argv[] = { (char *)"fusermount3", (char *)"-u", (char *)where, NULL };

	if (!is_mounted(where))
		return 1;
	if (umount2(where, UMOUNT_NOFOLLOW) == 0)
		return 0;
	if (errno == EPERM)
		return daemon_spawn(argv[0], argv, err);
	return error_errno(err, -errno, "cannot unmount %s", where);
}
