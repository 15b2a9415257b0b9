/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the source files that debug information names. Each missing one is warned of once, with the
 * places where it was looked for.
 *
 *	struct sources *s = sources_new(root, "/home/me/src", "/build/pkg-1.2");
 *	_cleanup_free_ char *path = sources_find(s, "/build/pkg-1.2/lib/a.c");
 *	sources_free(s);					"/home/me/src/lib/a.c"
 */
#pragma once

#include "base/macro.h"

struct sources;

/* Looks below @root (NULL or "" for this machine), then in the comma list @search_dirs, where
 * prefixes out of the comma list @base_dirs are taken off. Lists may be NULL. Caller frees. */
struct sources *sources_new(const char *root, const char *search_dirs, const char *base_dirs);
void sources_free(struct sources *s);
DEFINE_CLEANUP(struct sources *, sources_free);

/* The readable file that @path, as compiled, is here; caller frees. NULL where there is none. In
 * order: @path below the root, @path itself, and in each search directory @path without the base
 * directory, the whole of @path, the last part of it. */
char *sources_find(struct sources *s, const char *path);
