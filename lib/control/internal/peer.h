/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is at the other end of a connection to the control socket.
 *
 *	gid_t group = peer_group("oprofile");
 *	if (!peer_in_group(fd, &peer, group)) ...
 */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

/* The number of the group; (gid_t)-1, which nobody is in, if @name is NULL or unknown. */
gid_t peer_group(const char *name);
/* Returns whether the peer is in the group, by its primary or a supplementary group. */
bool peer_in_group(int fd, const struct ucred *peer, gid_t group);
