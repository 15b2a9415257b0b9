/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a file lies for us that a process sees through a root or mounts of its own: by the path of
 * the open file, as another name in a file system that is mounted here, or in the layer of an
 * overlay that it came from.
 *
 *	char *host = host_path(&(struct host_file){ fd, st, image, tgid });
 *	if (!host)
 *		...image->path is right here too
 *	else if (!*host)
 *		...only the process can see it
 */
#pragma once

#include "identity/cookie.h"

struct stat;

struct host_file {
	int fd; /* the open file */
	const struct stat *st;
	const struct cookie_image *image; /* ->path is the process's */
	uint32_t tgid;			  /* the process, 0: unknown */
};

/* The path that leads to the file here; NULL where the process's own path does, or no path does for
 * anybody since it was deleted; "" where none does here. Caller frees. */
char *host_path(const struct host_file *file);
