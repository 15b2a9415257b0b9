/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the separate debug file of a stripped binary, as gdb does: by build-id below
 * /usr/lib/debug/.build-id, else by the name in .gnu_debuglink (in the binary's directory, in
 * .debug below it, and below /usr/lib/debug), where the CRC must fit unless the build-ids do.
 *
 *	struct elffile *debug;
 *	if (debugfile_open(ef, "/usr/bin/xz", roots, 1, &debug) == 0)
 *		elfsym_load(ef, debug, ELFSYM_FILE_OFFSET, st);
 */
#pragma once

#include "elf/elffile.h"

struct filefind;

/* Opens the debug file of @ef, which was found as @path (its path in the profiled system, without
 * the root) below one of the @count @roots (NULL or "" is this machine), in each of which is
 * looked. 0 with *ret, to be closed by the caller, or -ENOENT. Of a file that was found but does
 * not belong to @ef it is warned. */
int debugfile_open(const struct elffile *ef, const char *path, const char *const *roots,
		   size_t count, struct elffile **ret);
/* Opens @path if it is the debug file of @ef, by build-id; 0 with *ret, to be closed by the caller,
 * or -ENOENT. */
int debugfile_open_at(const struct elffile *ef, const char *path, struct elffile **ret);
/* The symbols that some distributions leave in a stripped binary, compressed, in the section
 * .gnu_debugdata: it has no lines, a debug file is better. 0 with *ret, to be closed by the caller,
 * or -ENOENT. */
int debugfile_inside(const struct elffile *ef, struct elffile **ret);
/* What dwz moved out of @ef, a debug file or a binary, to share it with others: the file that
 * .gnu_debugaltlink or .debug_sup names, by build-id or an absolute path below any directory above
 * @ef, each of which may be the root of its system, or by its path from @ef's directory on. 0 with
 * *ret, to be closed by the caller, and what it is known by in *ret_id; or -ENOENT. One with
 * another build-id is refused, with a warning. */
int debugfile_alt(const struct elffile *ef, struct build_id *ret_id, struct elffile **ret);
/* Where the debug file of a build-id belongs below a root; caller frees. NULL where it is too
 * short, or @id NULL. */
char *debugfile_place(const struct build_id *id, const char *root);
/* Whether a debug file of this build-id lies below one of the roots; opens none. */
bool debugfile_installed(const struct build_id *id, const char *const *roots, size_t count);
/* As debugfile_open(), among the files in @found, wherever they lie: by the name in .gnu_debuglink,
 * or by the name that it has in a tree of build-ids. */
int debugfile_find(const struct elffile *ef, struct filefind *found, struct elffile **ret);
/* The CRC of a debug file's bytes, as .gnu_debuglink counts it; for @crc start with 0. */
uint32_t debugfile_crc(uint32_t crc, const void *data, size_t size);
