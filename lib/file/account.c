/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file/account.h"

#include "base/mem.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

uid_t account_of_process(const char *root, uint32_t tgid, uid_t uid)
{
	_cleanup_free_ char *path = xasprintf("%s/proc/%u/ns/user", root, tgid);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), parent;
	uid_t owner = 0;

	/* The first namespace has no parent. */
	while (fd >= 0 && (parent = ioctl(fd, NS_GET_PARENT)) >= 0) {
		(void)ioctl(fd, NS_GET_OWNER_UID, &owner);
		(void)close(fd);
		fd = parent;
	}
	if (fd >= 0)
		(void)close(fd);
	return owner ?: uid;
}

uid_t account_of(const char *root, uint32_t tgid)
{
	_cleanup_free_ char *path = xasprintf("%s/proc/%u", root ?: "", tgid);
	struct stat st;

	return lstat(path, &st) < 0 ? (uid_t)-1 : account_of_process(root ?: "", tgid, st.st_uid);
}
