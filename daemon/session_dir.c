/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session_dir.h"

#include "base/mem.h"
#include "file/path.h"
#include "file/system_dir.h"
#include "file/trusted_dir.h"
#include "rights.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static bool others_may_write(const struct stat *st)
{
	return st->st_mode & (S_IWGRP | S_IWOTH);
}

/* Returns an entry of @directory that no session directory has, or NULL; caller frees. A directory
 * that serves something else is not given away because of a wrong --session-dir. */
static char *find_foreign(int directory)
{
	static const char *const names[] = { ".",      "..",	  "abi",     "lock",
					     "writer", "control", "samples", "symbols" };
	DIR *dir = fdopendir(dup(directory));
	const struct dirent *entry;
	char *found = dir ? NULL : xstrdup("what cannot be listed");
	size_t i;

	while (dir && !found && (entry = readdir(dir))) {
		for (i = 0; i < ARRAY_SIZE(names) && strcmp(entry->d_name, names[i]) != 0; i++)
			;
		if (i == ARRAY_SIZE(names))
			found = xstrdup(entry->d_name);
	}
	if (dir) {
		rewinddir(dir); /* its position is also that of @directory */
		(void)closedir(dir);
	}
	return found;
}

/* Gives to the user of @who everything below @directory that root owns and nobody else could have
 * put there. Skips files with several links, which may belong elsewhere: of a session's files, only
 * the symbols of the kernel have them, which the daemon reads and replaces, but never changes. */
static int give_tree(int directory, dev_t device, const struct rights *who)
{
	DIR *dir = fdopendir(dup(directory));
	const struct dirent *entry;
	struct stat st;
	int r = dir ? 0 : -errno;

	while (r == 0 && (entry = readdir(dir))) {
		_cleanup_close_ int below = -1;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (fstatat(directory, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    st.st_dev != device || st.st_uid != 0 ||
		    (!S_ISDIR(st.st_mode) && st.st_nlink > 1))
			continue;
		if (S_ISDIR(st.st_mode) && !others_may_write(&st)) {
			below = openat(directory, entry->d_name,
				       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			r = below < 0 ? -errno : give_tree(below, device, who);
		}
		if (r == 0 &&
		    fchownat(directory, entry->d_name, who->uid, who->gid, AT_SYMLINK_NOFOLLOW) < 0)
			r = -errno;
	}
	if (dir)
		(void)closedir(dir);
	return r;
}

/* Gives @directory to the user of @who. */
static int give(int directory, const char *path, mode_t mode, const struct rights *who,
		struct error *err)
{
	_cleanup_free_ char *foreign = NULL;
	struct stat st;
	int r = 0;

	if (fstat(directory, &st) < 0)
		return error_errno(err, -errno, "%s", path);
	if (st.st_uid != who->uid && st.st_uid != 0)
		return error_set(err, -EPERM,
				 "%s belongs to uid %u; use the owner's name as --user, or another "
				 "--session-dir",
				 path, st.st_uid);
	if (st.st_mode & S_IWOTH || (others_may_write(&st) && st.st_gid != 0))
		return error_set(err, -EPERM,
				 "%s can be written by others, who could redirect the daemon's "
				 "writes; chmod go-w it, or use another --session-dir",
				 path);
	foreign = st.st_uid != who->uid ? find_foreign(directory) : NULL;
	if (foreign)
		return error_set(
			err, -EPERM,
			"%s: not given to uid %u, because it is not only a session: it contains "
			"'%s'; use an empty or new directory as --session-dir",
			path, who->uid, foreign);
	if (st.st_uid != who->uid)
		r = give_tree(directory, st.st_dev, who);
	if (r == 0 && (fchown(directory, who->uid, who->group) < 0 || fchmod(directory, mode) < 0))
		r = -errno;
	return r < 0 ? error_errno(err, r, "cannot give %s to uid %u", path, who->uid) : 0;
}

/* Opens the directory, after creating it if it is missing. As root, goes no way that another user
 * could redirect, not even the daemon's: root would give it whatever that user put there. */
static int open_directory(const char *session_dir, mode_t mode, const struct rights *who,
			  struct error *err)
{
	const struct dir_trust nobody = { 0 };
	int r;

	if (who->by_root)
		return trusted_dir_open(session_dir, mode, &nobody, err);
	r = path_make_parents(session_dir, 0755, err);
	if (r == 0)
		r = path_make_dirs(session_dir, mode, err);
	if (r < 0)
		return r;
	r = open(session_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return r < 0 ? error_errno(err, -errno, "%s", session_dir) : r;
}

int session_dir_prepare(const char *session_dir, mode_t mode, const struct rights *who,
			struct error *err)
{
	_cleanup_close_ int directory = open_directory(session_dir, mode, who, err);
	_cleanup_free_ char *path = NULL;
	int r;

	if (directory < 0)
		return directory;
	r = system_dir_refuse(session_dir, err);
	if (r < 0)
		return r;
	path = xrealpath(session_dir);
	if (!path)
		return error_errno(err, -errno, "%s", session_dir);
	if (who->by_root)
		return give(directory, path, mode, who, err);
	/* The directory of another user is left alone; whether it can be written shows later. */
	if (who->group == who->gid || fchown(directory, (uid_t)-1, who->group) == 0)
		(void)fchmod(directory, mode);
	return 0;
}
