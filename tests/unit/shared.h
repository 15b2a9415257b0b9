/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data next to the source tree, not in it: recordings of the original tools. A stand-alone checkout
 * has none; tests then skip.
 *
 *	_cleanup_free_ char *path = shared_path("interop/abi");
 *	if (!path)
 *		SKIP(SHARED_MISSING);
 */
#pragma once

#include "test.h"

#include <fts.h>
#include <string.h>

#define SHARED_MISSING "no recordings next to the source tree (OP_SHARED)"

/* $OP_SHARED/@name, else in the directory "shared" next to the source root; caller frees. NULL if
 * it does not exist. */
static inline char *shared_path(const char *name)
{
	const char *shared = getenv("OP_SHARED"), *root = getenv("OP_SOURCE_ROOT");
	_cleanup_free_ char *base =
		shared ? xstrdup(shared) : xasprintf("%s/../shared", root ? root : ".");
	char *path = path_join(base, name);

	if (access(path, R_OK) == 0)
		return path;
	free(path);
	return NULL;
}

/* Unpacks the original's sessions below @directory: the path of data/, caller frees; NULL where
 * there are none. */
static inline char *shared_sessions(const char *directory)
{
	_cleanup_free_ char *archive = shared_path("interop/sessions.tar.xz");
	_cleanup_free_ char *command =
		archive ? xasprintf("tar xJf '%s' -C '%s' data", archive, directory) : NULL;

	if (!command || system(command) != 0)
		return NULL;
	return path_join(directory, "data");
}

/* Calls @each for every sample file of the original's sessions; false where there are none. */
static inline bool shared_samples(void (*each)(const char *path))
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *data = shared_sessions(dir);
	char *paths[] = { data, NULL };
	unsigned int files = 0;
	FTSENT *entry;
	FTS *fts;

	if (!data)
		return false;
	fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	while (fts && (entry = fts_read(fts))) {
		if (entry->fts_info != FTS_F || !strstr(entry->fts_path, "/samples/"))
			continue;
		files++;
		each(entry->fts_path);
	}
	if (fts)
		(void)fts_close(fts);
	CHECK(files > 80);
	return true;
}
