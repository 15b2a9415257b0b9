/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a session of a perf.data file: its samples go the way that those of a driver go, through
 * the recorder to sample files and call chains. The caller owns all that it passes.
 *
 *	struct perf_import_config config = { .session_dir = "oprofile_data", .scratch = directory };
 *	struct perf_import_stats stats;
 *	r = perf_import("perf.data", &config, &stats, err);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct perf_import_config {
	const char *session_dir; /* where to write the session "current" */
	const char *cache;	 /* of perf(1), "/root/.debug"; NULL: there is none */
	const char *scratch;	 /* an empty directory for files that are needed meanwhile */
	unsigned int separate;	 /* enum record_separate */
	bool force;		 /* replace a session that is there */
};

struct perf_import_stats {
	uint64_t received, recorded; /* samples: in the file, in the session */
	uint64_t lost;		     /* the kernel had no room for these */
};

/* Whether the file @path can be opened and begins as perf's files do. */
bool perf_import_is(const char *path);
/* Imports the file @path, which is read with the rights in force; the session is written as root
 * if owner_become() left a way back. 0 or -errno: -EBADMSG or -ENOTSUP if the file is not one that
 * can be read, -EEXIST if there is a session. */
int perf_import(const char *path, const struct perf_import_config *config,
		struct perf_import_stats *ret, struct error *err);
