/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the separate debug file of a stripped binary, as gdb does: by build-id below
 * /usr/lib/debug/.build-id, else by the name in .gnu_debuglink (in the binary's directory, in
 * .debug below it, and below /usr/lib/debug). The build-ids must be equal or, without one, the CRC
 * must match.
 *
 *	struct elffile *debug;
 *	if (debugfile_open(ef, "/usr/bin/xz", roots, 1, &debug) == 0)
 *		elfsym_load(ef, debug, ELFSYM_FILE_OFFSET, st);
 */
#pragma once

#include "elf/elffile.h"

struct filefind;

/* Opens the debug file of @ef, whose path in the profiled system is @path. Looks below each of the
 * @count @roots (NULL or "" is this machine). 0 with *ret, which the caller closes; or -ENOENT.
 * Logs a warning about a file that was found but does not belong to @ef. */
int debugfile_open(const struct elffile *ef, const char *path, const char *const *roots,
		   size_t count, struct elffile **ret);
/* Opens @path if its build-id says that it is the debug file of @ef. 0 with *ret, which the caller
 * closes; or -ENOENT. */
int debugfile_open_at(const struct elffile *ef, const char *path, struct elffile **ret);
/* Opens the compressed ELF file that some distributions put into stripped binaries, in the section
 * .gnu_debugdata. It has symbols but no lines, so a debug file is better. 0 with *ret, which the
 * caller closes; or -ENOENT. */
int debugfile_inside(const struct elffile *ef, struct elffile **ret);
/* Opens the file that dwz moved shared debug information of @ef to, as .gnu_debugaltlink or
 * .debug_sup names it: by build-id, by a path relative to @ef's directory, or by an absolute path,
 * which is tried below every directory above @ef, since each may be the root of a recorded system.
 * 0 with *ret, which the caller closes, and its build-id in *ret_id; or -ENOENT. A file with
 * another build-id is refused with a warning. */
int debugfile_alt(const struct elffile *ef, struct build_id *ret_id, struct elffile **ret);
/* The path below @root that the debug file of a build-id belongs at; caller frees. NULL if @id is
 * NULL or too short. */
char *debugfile_place(const struct build_id *id, const char *root);
/* Whether a debug file of this build-id exists below one of the roots; opens none. */
bool debugfile_installed(const struct build_id *id, const char *const *roots, size_t count);
/* As debugfile_open(), but looks among the files of @found in any directory: by the name in
 * .gnu_debuglink, or by its name in a tree of build-ids. */
int debugfile_find(const struct elffile *ef, struct filefind *found, struct elffile **ret);
/* Continues a CRC, which starts as 0, over @size bytes, as .gnu_debuglink defines it. */
uint32_t debugfile_crc(uint32_t crc, const void *data, size_t size);
