/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the file of an image while a process still has it mapped, and determines its size, mtime
 * and build-id. Only the path by which the process knew the file is given, and that may be in
 * another mount namespace, replaced or deleted: each candidate is compared by device and inode.
 *
 *	struct cookie_mapped where = { .tgid = tgid, .start = start, .end = end };
 *	int fd = cookie_open_file(image, &where);
 */
#pragma once

#include "identity/cookie_image.h"

struct parser;

/* Sets size, mtime, build-id and, if it was unknown, the generation of @image, a file, and marks it
 * identified. They stay unknown if no path leads to that file any more. @parser reads the file; it
 * may be NULL. */
void cookie_identify_file(struct cookie_image *image, const struct cookie_mapped *where,
			  struct parser *parser);

/* Whether the file can be found and its size, mtime or, without build-id, ctime differ from those
 * in @image. */
bool cookie_file_changed(const struct cookie_image *image, const struct cookie_mapped *where);

/* Opens the file for reading; a descriptor, which the caller closes, or -ENOENT if no path leads to
 * it any more. */
int cookie_open_file(const struct cookie_image *image, const struct cookie_mapped *where);
/* The same for an image that was identified, if the file is still in that version. */
int cookie_open_version(const struct cookie_image *image, const struct cookie_mapped *where);
