/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding the file behind a file image while it can still be reached, and what it is: size, mtime,
 * build-id. */
#pragma once

#include "identity/cookie.h"

/* Fills size, mtime and build-id, and the generation where it was not known, of the file image
 * @image and marks it identified; leaves all unknown where no path leads to that file any more.
 * @parser (may be NULL) reads the file. */
void cookie_identify_file(struct cookie_image *image, const struct cookie_mapped *where,
			  struct parser *parser);

/* Whether a path leads to the file, and size or mtime are no longer what @image says. */
bool cookie_file_changed(const struct cookie_image *image, const struct cookie_mapped *where);

/* Opens the file for reading, if a path still leads to it: a descriptor, which the caller closes,
 * or -ENOENT. */
int cookie_open_file(const struct cookie_image *image, const struct cookie_mapped *where);
