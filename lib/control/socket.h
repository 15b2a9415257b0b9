/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control socket of a session: DIR/control, a unix stream socket, where DIR is the session
 * directory. A directory whose path is too long for a socket address is reached through
 * /proc/self/fd. The caller closes all descriptors returned.
 */
#pragma once

#include "base/error.h"

#include <sys/types.h>

#define CONTROL_SOCKET "control"

/* Opens the session directory. Returns a descriptor, to be passed to control_listen(), or
 * -errno. */
int control_directory(const char *session_dir, struct error *err);
/* Finds the number of a group; (gid_t)-1 if @name is NULL. 0 or -errno. */
int control_group(const char *name, gid_t *ret, struct error *err);
/* Binds the socket and listens, non-blocking. Replaces a socket left by a dead daemon: the caller
 * holds the session's lock, so nobody else listens there. Only the owner may connect, and the
 * members of @group, unless it is (gid_t)-1. Returns a descriptor or -errno. */
int control_listen(int directory, const char *session_dir, gid_t group, struct error *err);
/* Accepts a connection, non-blocking. Without a descriptor, closes *@spare for a moment, which is
 * of /dev/null, to hang up: the listener would stay readable. Returns a descriptor; -ENFILE if it
 * hung up; or -errno. */
int control_accept(int listener, int *spare);
/* Removes the socket that control_listen() bound. */
void control_unlisten(int directory);
/* Connects to the daemon, waiting at most @timeout_ms. Returns a descriptor or -errno: -ENOENT if
 * no daemon is listening. */
int control_connect(const char *session_dir, int timeout_ms, struct error *err);
