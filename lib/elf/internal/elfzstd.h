/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unpacks files compressed with zstd, as many systems install kernel modules. libdw unpacks other
 * formats, but this one only if it was built for it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether the file starts with the magic number of zstd. */
bool elfzstd_is(int fd);
/* Unpacks the file into memory: 0 with *@ret, which the caller frees; -EBADMSG if it is damaged or
 * cut short; -EFBIG if it is far too large for a module; or -errno. */
int elfzstd_unpack(int fd, void **ret, size_t *ret_size);
