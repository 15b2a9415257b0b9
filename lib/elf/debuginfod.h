/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fetches files by build-id from the debuginfod servers of $DEBUGINFOD_URLS. Uses libdebuginfod
 * (debuginfod_find_debuginfo.3), which is loaded on first use and caches what it fetches. Fetches
 * several files at a time; a server that does not answer is asked once. A file may have 8 GiB and
 * take half an hour, unless DEBUGINFOD_MAXSIZE and DEBUGINFOD_MAXTIME say otherwise.
 *
 *	struct debuginfod_want wants[] = { { .id = id, .name = "libc.so.6" } };
 *	if (debuginfod_fetch(wants, 1, &progress, &err) == 0 && wants[0].path)
 *		...
 *	free(wants[0].path);
 */
#pragma once

#include "base/error.h"
#include "file/build_id.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debuginfod_want {
	const struct build_id *id;
	const char *name; /* for messages */
	bool executable;  /* wanted is the binary itself, else its debug information */
	char *path;	  /* result: the fetched file or NULL; caller frees */
	int error;	  /* result without a file: -ENOENT if no server has it, else -errno */
};

/* Progress: ->say is called now and then, by one thread at a time. */
struct debuginfod_progress {
	void (*say)(size_t done, size_t count, uint64_t bytes, void *data); /* or NULL */
	void *data;
};

/* Fetches all @wants. 0 if the servers were asked, whatever they had; -ENOSYS if the library is not
 * installed; -EDESTADDRREQ if no server is configured; -EHOSTUNREACH if none answered, which is
 * then the error of those that were not tried. */
int debuginfod_fetch(struct debuginfod_want *wants, size_t count,
		     const struct debuginfod_progress *progress, struct error *err);
