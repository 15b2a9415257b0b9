/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/internal/peer.h"

#include <stddef.h>

enum { GROUPS_MAX = 1024 };

bool peer_in_group(int fd, const struct ucred *peer, gid_t group)
{
	gid_t groups[GROUPS_MAX];
	socklen_t size = sizeof(groups);
	size_t i;

	if (group == (gid_t)-1)
		return false;
	if (peer->gid == group)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
		return false;
	for (i = 0; i < size / sizeof(groups[0]); i++)
		if (groups[i] == group)
			return true;
	return false;
}
