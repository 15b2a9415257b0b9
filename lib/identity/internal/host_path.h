/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds a file on the host that a process sees through its own root or mounts: by the path of the
 * open file, under another name in a file system that is mounted here too, or in the layer of an
 * overlay that it comes from.
 *
 *	struct host_file file = { .fd = fd, .image = image };
 *	char *path = host_path(&file);
 *	if (path && !*path)
 *		puts("only the process can see it");
 */
#pragma once

#include "identity/cookie_image.h"

struct stat;

struct host_file {
	int fd; /* the open file */
	const struct stat *st;
	const struct cookie_image *image; /* ->path is as the process sees it */
	uint32_t tgid;			  /* the process, 0: unknown */
};

/* The path of the file on the host; "" if it has none. NULL if it is image->path, or if the file
 * was deleted, so that nobody has a path to it. Caller frees. */
char *host_path(const struct host_file *file);

/* Opens the file of @image by its inode and generation, wherever it was renamed to, through a mount
 * of its file system. A descriptor for O_PATH uses, which the caller closes; -1 without
 * CAP_DAC_READ_SEARCH, on a file system with other handles, or if the file is gone. */
int host_open(const struct cookie_image *image);
