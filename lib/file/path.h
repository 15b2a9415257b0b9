/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paths, directories and small files. A @root is put before an absolute path, so that the /proc and
 * /sys of a recorded machine can be read; "" or NULL is the running machine.
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
/* The part of @path after the last slash; borrowed. */
const char *path_base(const char *path);
/* @path made absolute, without "." and doubled slashes. Links are not resolved, and it need not
 * exist. Caller frees. */
char *path_absolute(const char *path);
/* Drops ".", doubled slashes and each name that ".." follows, with it, in place: which is the same
 * file unless that name is one of a symbolic link. */
void path_simplify(char *path);
/* Whether @path starts with a slash. */
bool path_is_absolute(const char *path);
/* Returns whether an absolute path has no "." or "..", so that it stays below a directory that it
 * is appended to. */
bool path_stays_below(const char *path);

/* Creates @path and its missing parents with @mode; 0 or -errno. */
int path_make_dirs(const char *path, mode_t mode, struct error *err);
/* Creates the missing parent directories of the file @path; 0 or -errno. */
int path_make_parents(const char *path, mode_t mode, struct error *err);
/* Removes a directory and everything below it, without following links. 0, also if there was none;
 * or -errno. */
int path_remove_tree(const char *path, struct error *err);
/* Bytes that @path and the files below it use on disk, other file systems not counted, of a file
 * with several links the part of each; 0 if @path does not exist. Ends early when @goes_on (or
 * NULL), called with @data for each file, returns false. */
uint64_t path_disk_bytes(const char *path, bool (*goes_on)(const void *data), const void *data);

/* Opens @path below @root for reading; caller closes; NULL with errno. Here and in path_read() it
 * must be a regular file (see open_regular.h) or /dev/null. */
FILE *path_fopen(const char *root, const char *path);
/* Reads a text file of at most 16 MiB into *@ret, caller frees; its length or -errno. */
ssize_t path_read(const char *root, const char *path, char **ret, struct error *err);
/* Reads a file that holds one number; 0 or -errno (-EINVAL if it holds something else). */
int path_read_u64(const char *root, const char *path, uint64_t *ret);
/* Ends the writing of a file under a temporary name, @from, with the result @r: if that is 0, gives
 * it the name @to in the same file system; if not, or if that fails, removes it. @flags are
 * RENAME_NOREPLACE or 0. Returns @r or -errno. */
int path_put(const char *from, const char *to, unsigned int flags, int r);
/* What is returned, and logged, if a file has its new name, but not for certain after a power cut,
 * because its directory could not be written to the disk. */
enum { PATH_UNSYNCED = 1 };
/* As path_put() for the open file @fd. After a power cut, @to is the old file or the whole new one:
 * the contents reach the disk before the name does, and the name before this returns (rename(2),
 * fsync(2)). 0, PATH_UNSYNCED, or -errno if @to is as before. */
int path_publish(int fd, const char *from, const char *to, int r);
/* Gives the open file @fd another name, @to, in the same file system; what had that name is
 * replaced. 0 or -errno. */
int path_link(int fd, const char *to);
/* Writes the names in the directory of @path to the disk; 0 or -errno. */
int path_sync_parent(const char *path);
/* Writes a small file atomically: a temporary in the same directory, published; the result of
 * path_publish(). */
int path_replace(const char *path, const char *text, mode_t mode, struct error *err);
/* The same for callers that have nothing to do about PATH_UNSYNCED: then it returns 0. */
int path_write(const char *path, const char *text, mode_t mode, struct error *err);

/* Closes a stream; the cleanup form of fclose(). */
static inline void cleanup_fclosep(FILE **f)
{
	if (*f)
		(void)fclose(*f);
}
#define _cleanup_fclose_ _cleanup_(cleanup_fclosep)
