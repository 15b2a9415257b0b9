/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The image manifest, samples/NAME/images: which file stood behind each image name when it was
 * profiled. A line of text an image (man opmanifest.5):
 *
 *	NAME \t PATH \t BUILDID \t SIZE \t MTIME \t MAJOR:MINOR:INODE:GENERATION [\t HOST]
 *
 * with backslash escapes for tab, newline and backslash and "-" for what is unknown. Lines are only
 * ever appended, each by one write, so that a crash leaves whole lines; a later line for a name
 * replaces an earlier one.
 *
 * NAME is the image's name in sample file names. It is the path, unless another file had that path
 * before in this session: then "#" and eight digits tell them apart.
 */
#pragma once

#include "base/build_id.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct manifest_image {
	const char *name; /* in sample file names: absolute path, or kernel name */
	const char *path; /* the file, as the process that mapped it saw it */
	const char *host; /* as the host saw it, "" if it could not; NULL: by ->path */
	struct build_id build_id;
	uint64_t size;	 /* bytes; 0: unknown */
	uint64_t mtime;	 /* seconds; 0: unknown */
	uint64_t device; /* major << 32 | minor; 0: unknown */
	uint64_t inode;
	uint64_t generation;
};

struct manifest;

/* Opens @samples/images: reads what is there, and with @write keeps it open for appending, creating
 * it where missing. Damaged lines are skipped and counted. Caller closes; 0 or -errno. */
int manifest_open(const char *samples, bool write, struct manifest **ret, struct error *err);
/* Closes; NULL is fine. */
void manifest_close(struct manifest *m);
DEFINE_CLEANUP(struct manifest *, manifest_close);

/* The image with this name, or NULL; borrowed until the next manifest_name() or _close(). */
const struct manifest_image *manifest_find(const struct manifest *m, const char *name);

/* The name under which the file @image (its ->name is ignored) is counted in this session: that of
 * an earlier entry for the same file (same build-id, or same device, inode, generation, size and
 * mtime where there is none), else a free one, under which it is then added and written out.
 * Borrowed until manifest_close(); NULL with the reason if the line cannot be written. */
const char *manifest_name(struct manifest *m, const struct manifest_image *image,
			  struct error *err);

/* Writes the file anew with what could be read, which leaves damaged lines out; 0 or -errno. Not
 * while another has it open for writing. */
int manifest_rewrite(const struct manifest *m, struct error *err);

/* Number of images, for listings. */
size_t manifest_count(const struct manifest *m);
/* The @i-th of them; borrowed until the next manifest_name() or manifest_close(). */
const struct manifest_image *manifest_at(const struct manifest *m, size_t i);
/* Lines that could not be read. */
size_t manifest_damaged(const struct manifest *m);
