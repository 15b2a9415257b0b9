/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mounts and unmounts oprofilefs. */
#pragma once

#include "base/error.h"

#define MOUNT_POINT "/dev/oprofile" /* where OProfile 1.x had it */

/* Mounts the nodes of the session's daemon on @where, which is created if missing, by running
 * oprofilefs (or $OPROFILEFS), which prints its errors itself. 0 or -errno: -EBUSY if it is mounted
 * there already. */
int mount_point_mount(const char *session_dir, const char *where, struct error *err);
/* Unmounts it. 1 if it was not mounted there, 0 or -errno. */
int mount_point_umount(const char *where, struct error *err);
