/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the control socket of a session lies: DIR/control, a unix stream socket. A directory whose
 * path is too long for a socket address is reached through /proc/self/fd. Descriptors are the
 * caller's to close.
 */
#pragma once

#include "base/error.h"

#define CONTROL_SOCKET "control"

/* Opens the directory, to name the socket in; a descriptor or -errno. */
int control_directory(const char *session_dir, struct error *err);
/* Binds and listens, non-blocking. A socket that a dead daemon left is replaced: the caller holds
 * the session's lock, so nobody alive listens there. Only the owner may connect, with @group (a
 * name, or NULL) its members too. A descriptor or -errno. */
int control_listen(int directory, const char *session_dir, const char *group, struct error *err);
/* Connects, waiting at most @timeout_ms; a descriptor or -errno: -ENOENT if no daemon listens
 * there. */
int control_connect(const char *session_dir, int timeout_ms, struct error *err);
