/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where oprofilefs is mounted: mount it there, unmount it. */
#pragma once

#include "base/error.h"

#define MOUNT_POINT "/dev/oprofile" /* where it has always been */

/* Mounts the nodes of the session's daemon on @where, which is made if it is not there, by starting
 * oprofilefs ($OPROFILEFS where set). What goes wrong that program says itself on stderr. 0 or
 * -errno: -EBUSY if it is mounted there. */
int mount_point_mount(const char *session_dir, const char *where, struct error *err);
/* Unmounts it. 1 if it was not mounted there, 0 or -errno. */
int mount_point_umount(const char *where, struct error *err);
