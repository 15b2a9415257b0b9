/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A directory of files that may all be made again, whose size is kept below a limit by removing
 * those that were not used for longest: whose mtime is oldest.
 *
 *	lru_directory_touch(fd, &st);			with each use
 *	if (lru_directory_is_due(written, limit, random))
 *		removed = lru_directory_trim(directory, ".sym", limit, &bytes);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stat;

/* Notes that the open file @fd, which @st describes, is used; at most once an hour. */
void lru_directory_touch(int fd, const struct stat *st);
/* Whether one who has written @written bytes should trim the directory, which looks at all of its
 * files: as often as needed to exceed @limit by a hundredth on average, however many processes
 * write a little each. @random: any number. */
bool lru_directory_is_due(uint64_t written, uint64_t limit, uint32_t random);
/* Measures what the files in @directory whose names end in @tail take on the disk and, if that is
 * above @limit, removes the least recently used down to three quarters of it. Removes what killed
 * writers left, too: old files whose names end in ".tmp". Returns how many it removed for their
 * size; *@ret_bytes: what is left. */
size_t lru_directory_trim(int directory, const char *tail, uint64_t limit, uint64_t *ret_bytes);
