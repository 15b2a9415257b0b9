/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/operf/session_owner.h"

#include "base/mem.h"
#include "base/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

uid_t session_owner_uid(void)
{
	const char *sudo = getenv("SUDO_UID");
	uint64_t uid;

	return sudo && parse_u64(sudo, 0, UINT32_MAX, &uid) == 0 ? (uid_t)uid : geteuid();
}

/* Checks what @path is, not what a link there leads to: the owner of a link can redirect it. */
static int check_one(const char *path, struct error *err)
{
	struct stat st;

	if (lstat(path, &st) < 0 || st.st_uid == 0 || st.st_uid == session_owner_uid())
		return 0;
	return error_set(err, -EPERM,
			 "%s: belongs to uid %u, who could redirect root's writes; use another "
			 "--session-dir",
			 path, st.st_uid);
}

int session_owner_check(const char *directory, struct error *err)
{
	static const char *const below[] = { "", "/samples", "/samples/current" };
	int r = 0;

	for (size_t i = 0; geteuid() == 0 && r == 0 && i < ARRAY_SIZE(below); i++) {
		_cleanup_free_ char *path = xasprintf("%s%s", directory, below[i]);

		r = check_one(path, err);
	}
	return r;
}
