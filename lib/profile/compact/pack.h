/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pack is a file that contains files, in POSIX tar compressed by zstd (man oparchive.5), so that
 * ordinary tools can read it, too. It has regular files only, whose names are relative paths
 * without "." and "..".
 *
 *	struct pack_writer *w;
 *	if (pack_create("kept.oparc", &w, err) == 0 &&
 *	    pack_add(w, "usr/bin/xz", bytes, size, mtime, err) == 0)
 *		r = pack_finish(w, err);
 *	pack_writer_free(w);
 *
 * The reader does not trust its input: anything that the writer would not write is rejected with
 * the reason.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pack_writer;

enum {
	PACK_NAME_MAX = 4096,	  /* bytes of a name */
	PACK_FILES_MAX = 4000000, /* in one pack */
};
/* Limit on the total size of all files. */
#define PACK_BYTES_MAX (UINT64_C(16) << 30)

/* Starts a pack that will become @path, which must not exist (-EEXIST), readable by this user only.
 * After owner_become(), it is written with root's rights. 0 or -errno; caller frees. */
int pack_create(const char *path, struct pack_writer **ret, struct error *err);
/* Adds @size bytes as the file @name, modified at @mtime. 0 or -errno. */
int pack_add(struct pack_writer *w, const char *name, const void *bytes, size_t size,
	     uint64_t mtime, struct error *err);
/* Adds the content of the file @from, opened with @flags: O_NOFOLLOW or 0. It was modified at
 * @mtime, or when the file was if that is 0. 0 or -errno. */
int pack_add_file(struct pack_writer *w, const char *name, const char *from, int flags,
		  uint64_t mtime, struct error *err);
/* Writes the end and gives the pack its name. 0 or -errno. */
int pack_finish(struct pack_writer *w, struct error *err);
/* Frees the writer, and removes a pack that was not finished. NULL is fine. */
void pack_writer_free(struct pack_writer *w);
DEFINE_CLEANUP(struct pack_writer *, pack_writer_free);

/* What a pack may become. */
struct pack_limit {
	uint64_t bytes;	  /* written; holes do not count */
	uint64_t entries; /* files and directories */
};

/* The limits for a pack of @size bytes: @most bytes or, if that is 0, in proportion to its size. */
struct pack_limit pack_limit(uint64_t size, uint64_t most);
/* Writes all files of the pack @path below @directory, which exists and in which nobody else
 * writes, within pack_limit(). Zeros become holes. Returns 0; -EBADMSG if it is damaged or not a
 * valid pack; -EFBIG if a limit is reached; or another -errno. */
int pack_unpack(const char *path, const char *directory, uint64_t most, struct error *err);
/* Returns whether @name is valid for a file: relative, not empty, and no part of it is empty, "."
 * or "..". */
bool pack_name_is_safe(const char *name);
