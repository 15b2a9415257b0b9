/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files compressed with zstd, as kernel modules are on many systems: libdw unpacks other formats,
 * this one only where it was built so. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether the file begins as such files do. */
bool elfzstd_is(int fd);
/* Unpacks the file into memory: 0 with *@ret, which the caller frees, or -errno: -EBADMSG where it
 * is damaged or cut short, -EFBIG where it is no module for all that can be told. */
int elfzstd_unpack(int fd, void **ret, size_t *ret_size);
