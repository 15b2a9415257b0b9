/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/operf/session_owner.h"

#include "base/mem.h"
#include "base/parse.h"
#include "file/path.h"
#include "file/system_dir.h"
#include "file/trusted_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The number in the environment variable @name that sudo sets, else @other. */
static unsigned int of_sudo(const char *name, unsigned int other)
{
	const char *text = getenv(name);
	uint64_t id;

	return text && parse_u64(text, 0, UINT32_MAX, &id) == 0 ? (unsigned int)id : other;
}

uid_t session_owner_uid(void)
{
	return of_sudo("SUDO_UID", geteuid());
}

/* Checks what @name in the session is, not what a link there leads to: the owner of a link can
 * redirect it. */
static int check_below(int session, const char *directory, const char *name, struct error *err)
{
	struct stat st;

	if (fstatat(session, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_uid == 0 ||
	    st.st_uid == session_owner_uid())
		return 0;
	return error_set(err, -EPERM,
			 "%s/%s: belongs to uid %u, who could redirect root's writes; use another "
			 "--session-dir",
			 directory, name, st.st_uid);
}

/* Refuses a directory of the system, unless it is a session already. */
static int check_place(const char *directory, struct error *err)
{
	_cleanup_free_ char *abi = path_join(directory, "abi");
	int r = access(abi, F_OK) < 0 ? system_dir_refuse(directory, err) : 0;

	return r == -EPERM ? r : 0; /* another error shows when it is made */
}

int session_owner_check(const char *directory, struct error *err)
{
	const struct dir_trust who = { .uid = session_owner_uid(),
				       .gid = of_sudo("SUDO_GID", getegid()),
				       .last_too = true };
	_cleanup_close_ int session = -1;
	int r = check_place(directory, err);

	if (r < 0 || geteuid() != 0)
		return r;
	session = trusted_dir_open(directory, 0750, &who, err);
	if (session < 0)
		return session;
	r = check_below(session, directory, "samples", err);
	return r < 0 ? r : check_below(session, directory, "samples/current", err);
}
