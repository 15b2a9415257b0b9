/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening a file by what the kernel knows it by, wherever it was renamed to. Used by
 * cookie_identify.c only. */
#pragma once

#include "identity/cookie.h"

/* Opens the file of @image by its inode and generation, through any mount of its file system that
 * we see; a descriptor that the caller closes, or -1: without the right to (CAP_DAC_READ_SEARCH),
 * on a file system that has other handles, of a file that is gone. */
int cookie_handle_open(const struct cookie_image *image);
