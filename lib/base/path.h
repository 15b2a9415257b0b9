/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paths, directories and small files. @root, where a function takes one, is put before an absolute
 * path ("" or NULL for the running machine), so that another machine's /proc and /sys can be read.
 *
 *	_cleanup_free_ char *text = NULL;
 *	if (path_read(root, "/proc/sys/kernel/kptr_restrict", &text, err) < 0) ...
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* @dir/@name with exactly one slash between them; caller frees. */
char *path_join(const char *dir, const char *name);
/* @path below @root; caller frees. */
char *path_under(const char *root, const char *path);
/* The part of @path behind the last slash; borrowed. */
const char *path_base(const char *path);
/* @path as an absolute one, without "." and doubled slashes, but not resolving links and not
 * needing to exist; caller frees. */
char *path_absolute(const char *path);
/* Whether @path starts with a slash. */
bool path_is_absolute(const char *path);

/* Creates @path and its missing parents with @mode; 0 or -errno. */
int path_make_dirs(const char *path, mode_t mode, struct error *err);
/* Creates the missing parent directories of the file @path; 0 or -errno. */
int path_make_parents(const char *path, mode_t mode, struct error *err);
/* Removes a directory with all below it, not following links; no directory is no error. */
int path_remove_tree(const char *path, struct error *err);
/* Bytes that the files below @path take on disk, on its own file system; 0 if there is none. */
uint64_t path_disk_bytes(const char *path);

/* Opens @path below @root for reading; a stream to be closed by the caller, or NULL with errno. */
FILE *path_fopen(const char *root, const char *path);
/* Reads the whole of a small text file (at most 16 MiB), caller frees; the length or -errno. */
ssize_t path_read(const char *root, const char *path, char **ret, struct error *err);
/* Reads a file that holds one number; 0 or -errno (-EINVAL if it holds something else). */
int path_read_u64(const char *root, const char *path, uint64_t *ret);
/* Writes a small file as a whole: a temporary beside it, renamed over it; 0 or -errno. */
int path_write(const char *path, const char *text, mode_t mode, struct error *err);

/* Closes a stream; the cleanup form of fclose(). */
static inline void cleanup_fclosep(FILE **f)
{
	if (*f)
		(void)fclose(*f);
}
#define _cleanup_fclose_ _cleanup_(cleanup_fclosep)
