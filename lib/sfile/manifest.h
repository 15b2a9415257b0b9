/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The image manifest, the text file samples/NAME/images of a session. It records which file each
 * image name referred to when it was profiled, one line per image (man opmanifest.5):
 *
 *	NAME \t PATH \t BUILDID \t SIZE \t MTIME[:CTIME] \t MAJOR:MINOR:INODE:GENERATION [\t HOST]
 *
 * Tab, newline and backslash are escaped with a backslash; "-" marks an unknown value. Lines are
 * only ever appended, each with one write, so that a crash leaves complete lines. A later line for
 * a name replaces an earlier one.
 *
 * NAME is the image's name in sample file names. It is the path, unless that is too long for a file
 * name: then the middle of it is replaced by "~" and a digest of 16 hex digits. If an earlier file
 * of this session had the same path, "#" and eight hex digits are appended.
 *
 * A struct manifest owns its images and their strings.
 */
#pragma once

#include "base/error.h"
#include "file/file_identity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MANIFEST_FILE "images" /* below samples/NAME */

struct manifest_image {
	const char *name; /* name in sample file names: absolute path or kernel name */
	const char *path; /* path as seen by the process that mapped the file */
	const char *host; /* path as seen by the host; "": not visible there; NULL: ->path */
	struct file_identity file;
	struct file_version version;
};

struct manifest;

/* Reads @samples/images; a missing file is an empty manifest. With @write, creates the file if it
 * is missing and keeps it open for appending. Damaged lines are skipped and counted. Returns 0 or
 * -errno. Caller closes *ret. */
int manifest_open(const char *samples, bool write, struct manifest **ret, struct error *err);
/* Closes the file and frees @m; NULL is fine. */
void manifest_close(struct manifest *m);
DEFINE_CLEANUP(struct manifest *, manifest_close);

/* Returns the image called @name, or NULL. Borrowed until manifest_close(), of a manifest open for
 * writing until the next call. */
const struct manifest_image *manifest_find(const struct manifest *m, const char *name);

/* Calls @each for each image, in the order in which they came. Not for a manifest that is open for
 * writing. */
void manifest_each(const struct manifest *m,
		   void (*each)(const struct manifest_image *image, void *data), void *data);

/* Returns the name to use for the file @image in this session; its ->name is ignored. If an earlier
 * entry of the same path is the same file, its name is returned. Files are the same if their
 * build-ids are equal, or, where one has none, if device, inode, generation, size, mtime and ctime
 * are equal where known. Otherwise a free name is chosen. An entry that is new, or for which @image
 * adds details, is written to the file. The name is borrowed until the next call. Returns NULL with
 * the reason in @err if the line cannot be written, or if many names for such a file are taken. */
const char *manifest_name(struct manifest *m, const struct manifest_image *image,
			  struct error *err);

/* Rewrites the file from the entries that could be read, which drops damaged lines. Must not be
 * called while another process has it open for writing. Returns 0 or -errno. */
int manifest_rewrite(const struct manifest *m, struct error *err);

/* Returns the number of damaged lines skipped by manifest_open(). */
size_t manifest_damaged(const struct manifest *m);
