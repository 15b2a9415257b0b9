/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file/owner.h"

#include "base/log.h"
#include "base/macro.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdint.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* For a user without an entry: the overflow group, which owns nothing. */
enum { NO_GROUP = 65534 };

/* What a reader keeps. */
static const uint64_t reading = 1ULL << CAP_DAC_READ_SEARCH | 1ULL << CAP_SYSLOG;

struct capabilities {
	uint64_t effective, permitted;
};

static int get_capabilities(struct capabilities *ret)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct half[2];

	if (syscall(SYS_capget, &header, half) < 0)
		return -errno;
	ret->effective = half[0].effective | (uint64_t)half[1].effective << 32;
	ret->permitted = half[0].permitted | (uint64_t)half[1].permitted << 32;
	return 0;
}

/* Of this thread, as all here. */
static int set_capabilities(const struct capabilities *c)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct half[2] = {
		{ .effective = (uint32_t)c->effective, .permitted = (uint32_t)c->permitted },
		{ .effective = (uint32_t)(c->effective >> 32),
		  .permitted = (uint32_t)(c->permitted >> 32) },
	};

	return syscall(SYS_capset, &header, half) < 0 ? -errno : 0;
}

/* Returns the owner of @path; 0 if that is root, or if there is nothing. */
static uid_t owner_of(const char *path)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
	struct stat st, samples;

	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;
	if (st.st_uid == 0 && S_ISDIR(st.st_mode) &&
	    fstatat(fd, "samples", &samples, AT_SYMLINK_NOFOLLOW) == 0)
		return samples.st_uid;
	return st.st_uid;
}

/* Files that libraries keep for the user are now the owner's. */
static void set_environment(const struct passwd *user)
{
	static const char *const of_root[] = { "XDG_CACHE_HOME", "DEBUGINFOD_CACHE_PATH",
					       "TMPDIR" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(of_root); i++)
		(void)unsetenv(of_root[i]);
	if (user)
		(void)setenv("HOME", user->pw_dir, 1);
	else
		(void)unsetenv("HOME");
}

static int set_groups(const struct passwd *user, gid_t gid)
{
	int r = user ? initgroups(user->pw_name, gid) : setgroups(1, &gid);

	/* Root of a container may lack the permission, but then has no other groups. */
	return r < 0 && errno != EPERM ? -errno : 0;
}

static int become_for_good(uid_t uid, gid_t gid, bool reads_all)
{
	struct capabilities c = { 0 };
	int r = get_capabilities(&c);

	c.permitted = reads_all ? c.permitted & reading : 0;
	c.effective = c.permitted;
	if (r < 0)
		return r;
	if (prctl(PR_SET_KEEPCAPS, reads_all, 0, 0, 0) < 0 || setresgid(gid, gid, gid) < 0 ||
	    setresuid(uid, uid, uid) < 0)
		return -errno;
	(void)prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return set_capabilities(&c);
}

/* The kernel drops root's capabilities to pass over permissions with the user, and gives them back
 * with it. */
static int become_for_files(uid_t uid, gid_t gid, bool reads_all)
{
	struct capabilities c;
	int r;

	(void)setfsgid(gid);
	(void)setfsuid(uid);
	if ((uid_t)setfsuid((uid_t)-1) != uid || (gid_t)setfsgid((gid_t)-1) != gid)
		return -EPERM;
	r = reads_all ? get_capabilities(&c) : 0;
	if (r < 0 || !reads_all)
		return r;
	c.effective |= c.permitted & reading;
	return set_capabilities(&c);
}

int owner_become(const char *path, enum owner_extent extent, const char *reader, struct error *err)
{
	uid_t uid = owner_of(path);
	const struct passwd *user;
	bool reads_all;
	gid_t gid;
	int r;

	if (uid == 0 || geteuid() != 0 || setfsuid((uid_t)-1) != 0)
		return 0;
	user = getpwuid(uid);
	gid = user ? user->pw_gid : NO_GROUP;
	reads_all = user && reader && !strcmp(user->pw_name, reader);
	r = set_groups(user, gid);
	if (r == 0)
		r = extent == OWNER_FOR_GOOD ? become_for_good(uid, gid, reads_all)
					     : become_for_files(uid, gid, reads_all);
	if (r < 0)
		return error_errno(err, r, "%s: cannot take on the rights of its owner, uid %u",
				   path, uid);
	log_debug("%s: read with the rights of its owner, uid %u", path, uid);
	set_environment(user);
	if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) < 0)
		return error_set(err, -errno,
				 "%s: its owner, uid %u, whose rights root uses to read it, cannot "
				 "reach it; move it to where its owner can, or chown it",
				 path, uid);
	return 0;
}

struct owner_pause owner_pause(void)
{
	struct owner_pause pause = { .uid = (uid_t)setfsuid((uid_t)-1),
				     .gid = (gid_t)setfsgid((gid_t)-1) };
	struct capabilities c = { 0 };

	if (geteuid() != 0 || pause.uid == 0)
		return (struct owner_pause){ 0 };
	pause.reads_all = get_capabilities(&c) == 0 && c.effective & 1ULL << CAP_DAC_READ_SEARCH;
	(void)setfsuid(0);
	(void)setfsgid(0);
	return pause;
}

int owner_stay(void)
{
	uid_t uid = (uid_t)setfsuid((uid_t)-1);
	gid_t gid = (gid_t)setfsgid((gid_t)-1);
	struct capabilities c = { 0 };
	int r = get_capabilities(&c);

	if (r < 0 || geteuid() != 0 || uid == 0)
		return r;
	return become_for_good(uid, gid, c.effective & 1ULL << CAP_DAC_READ_SEARCH);
}

void owner_resume(const struct owner_pause *pause)
{
	/* Going on as root would be worse than to end. */
	if (pause->uid && become_for_files(pause->uid, pause->gid, pause->reads_all) < 0)
		abort();
}
