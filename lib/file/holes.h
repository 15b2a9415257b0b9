/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holes of files: ranges that were never written. They read as zeros and take no room on the disk,
 * so a file of a few blocks can make its reader go through terabytes.
 *
 *	if (holes_prevail(fd, size_bytes))
 *		return error_set(err, -EBADMSG, "%s: %s", path, holes_text);
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The phrase for a file that is refused for this. */
extern const char holes_text[];

/* Whether nearly all of the first @bytes of the file @fd are holes: more than 16 MiB, and more than
 * eight times what was written. False where the file system does not know (lseek(2), SEEK_DATA). */
bool holes_prevail(int fd, uint64_t bytes);
