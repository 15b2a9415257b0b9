/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding the file behind a file image while it can still be reached, and what it is: size, mtime,
 * build-id. Used by cookie_identify() only. */
#pragma once

#include "driver/cookie.h"

/* Where a process has the file mapped; borrowed. */
struct cookie_mapped {
	const char *root;    /* below which /proc lies; "" or NULL: this machine's */
	uint32_t tgid;	     /* 0: unknown */
	uint64_t start, end; /* 0: unknown */
};

/* Fills size, mtime and build-id, and the generation where it was not known, of the file image
 * @image and marks it identified; leaves all unknown where no path leads to that file any more. */
void cookie_identify_file(struct cookie_image *image, const struct cookie_mapped *where);
