/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a mapping shows, as the kernel names it in MMAP2 records and in /proc/PID/maps. */
#pragma once

#include "identity/cookie.h"
#include "process/internal/maps.h"

/* What the kernel says of a mapping; borrowed. */
struct mapping_source {
	uint64_t start, end;
	uint64_t offset;	    /* of start in the file, in bytes */
	uint64_t device;	    /* major << 32 | minor */
	uint64_t inode, generation; /* 0: none, unknown */
	const char *path;
};

/* Fills *@ret: a file's cookie, the vdso's, or a label where there is no file; offsets into memory
 * without a file count from where it starts. */
void mapping_from(const struct mapping_source *source, struct cookie_table *cookies,
		  struct mapping *ret);
