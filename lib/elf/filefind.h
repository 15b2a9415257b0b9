/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds files by name below some directories, which are read on the first look-up.
 *
 *	struct filefind *ff = filefind_new();
 *	filefind_add(ff, "/lib/modules/6.1.0");
 *	for (i = 0; (path = filefind_get(ff, "xfs.ko", i)); i++)
 *		...
 *	filefind_free(ff);
 */
#pragma once

#include "base/macro.h"

#include <stddef.h>

struct filefind;

/* A search without directories; caller frees. */
struct filefind *filefind_new(void);
/* NULL is fine. */
void filefind_free(struct filefind *ff);
DEFINE_CLEANUP(struct filefind *, filefind_free);

/* Adds a directory and everything below it; links are not followed. One that cannot be read counts
 * as empty. */
void filefind_add(struct filefind *ff, const char *directory);
/* The path of the @i-th file called @name, or NULL; borrowed until the next filefind_add(). */
const char *filefind_get(struct filefind *ff, const char *name, size_t i);
