/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/operf/session_owner.h"

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

int session_owner_check(const char *directory, struct error *err)
{
	struct stat st;

	if (geteuid() != 0 || stat(directory, &st) < 0 || st.st_uid == 0 ||
	    st.st_uid == session_owner_uid())
		return 0;
	return error_set(err, -EPERM,
			 "%s: belongs to uid %u, who could redirect root's writes; use another "
			 "--session-dir",
			 directory, st.st_uid);
}
