/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/landlock.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* The kernel's ABI (linux/landlock.h), which older headers have only a part of. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule	    445
#define SYS_landlock_restrict_self  446
#endif

enum { ASK_VERSION = 1, PATH_BENEATH = 1 };

enum {
	EXECUTE = 1 << 0,
	WRITE_FILE = 1 << 1,
	READ_FILE = 1 << 2,
	READ_DIR = 1 << 3,
	REMOVE_DIR = 1 << 4,
	REMOVE_FILE = 1 << 5,
	MAKE_CHAR = 1 << 6,
	MAKE_DIR = 1 << 7,
	MAKE_REG = 1 << 8,
	MAKE_SOCK = 1 << 9,
	MAKE_FIFO = 1 << 10,
	MAKE_BLOCK = 1 << 11,
	MAKE_SYM = 1 << 12,
	REFER = 1 << 13,     /* since version 2 */
	TRUNCATE = 1 << 14,  /* 3 */
	IOCTL_DEV = 1 << 15, /* 5 */
};

struct ruleset {
	uint64_t files;	 /* what is forbidden unless a rule allows it */
	uint64_t net;	 /* TCP: bind, connect; since version 4 */
	uint64_t scoped; /* abstract sockets and signals of other processes; since version 6 */
};

struct rule {
	uint64_t allowed;
	int32_t directory;
} __attribute__((packed));

/* What can be forbidden since each version, and so may be requested from a kernel of that or a
 * later one. */
static const struct {
	long version;
	struct ruleset more;
} versions[] = {
	{ 1,
	  { .files = EXECUTE | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_CHAR | MAKE_DIR |
		     MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_BLOCK | MAKE_SYM } },
	{ 2, { .files = REFER } },
	{ 3, { .files = TRUNCATE } },
	{ 4, { .net = 3 } },
	{ 5, { .files = IOCTL_DEV } },
	{ 6, { .scoped = 3 } },
};

static int allow(int ruleset, const char *directory, uint64_t files, struct error *err)
{
	static const uint64_t wanted = WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG |
				       MAKE_SYM | REFER | TRUNCATE;
	_cleanup_close_ int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct rule rule = { .allowed = files & wanted, .directory = fd };

	if (fd < 0 || syscall(SYS_landlock_add_rule, ruleset, PATH_BENEATH, &rule, 0) < 0)
		return error_errno(err, -errno, "%s", directory);
	return 0;
}

/* Forbids @all, and whatever the kernel can forbid except for reading, but for the directories. */
static int enter(struct ruleset all, const char *const *directories, size_t count,
		 struct error *err)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION);
	_cleanup_close_ int ruleset = -1;
	size_t i;
	int r = 0;

	/* EOPNOTSUPP: compiled in, but not started. */
	if (version < 1)
		return error_set(err, -ENOSYS, "this kernel has no Landlock");
	for (i = 0; i < ARRAY_SIZE(versions) && versions[i].version <= version; i++) {
		all.files |= versions[i].more.files;
		all.net |= versions[i].more.net;
		all.scoped |= versions[i].more.scoped;
	}
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
	if (ruleset < 0)
		return error_errno(err, -errno, "cannot set up Landlock");
	for (i = 0; i < count && r == 0; i++)
		if (directories[i])
			r = allow(ruleset, directories[i], all.files, err);
	if (r < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return error_errno(err, -errno, "cannot enter Landlock");
	return 0;
}

int landlock_enter(const char *const *directories, size_t count, struct error *err)
{
	return enter((struct ruleset){ 0 }, directories, count, err);
}

int landlock_enter_closed(struct error *err)
{
	return enter((struct ruleset){ .files = READ_FILE | READ_DIR }, NULL, 0, err);
}
