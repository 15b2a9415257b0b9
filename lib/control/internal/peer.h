/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is at the other end of a connection to the control socket.
 *
 *	if (!peer_in_group(fd, &peer, group)) ...
 */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

/* Returns whether the peer is in the group, by its primary or a supplementary group; nobody is in
 * (gid_t)-1. */
bool peer_in_group(int fd, const struct ucred *peer, gid_t group);
