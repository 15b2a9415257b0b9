/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files by build-id from debuginfod servers, those of $DEBUGINFOD_URLS, through libdebuginfod
 * (debuginfod_find_debuginfo.3), which is loaded only when it is asked for and keeps what it
 * fetched. Several are fetched at a time; a server that does not answer is asked once.
 *
 *	struct debuginfod_want wants[] = { { .id = id, .name = "libc.so.6" } };
 *	if (debuginfod_fetch(wants, 1, &progress, &err) == 0 && wants[0].path)
 *		...
 *	free(wants[0].path);
 */
#pragma once

#include "base/build_id.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debuginfod_want {
	const struct build_id *id;
	const char *name; /* for messages */
	bool executable;  /* the binary itself, else its debug information */
	char *path;	  /* the file that was got, NULL: none; caller frees */
	int error;	  /* why there is none: -ENOENT if no server has it, else -errno */
};

/* How far it is: called now and then, by one thread at a time. */
struct debuginfod_progress {
	void (*say)(size_t done, size_t count, uint64_t bytes, void *data); /* or NULL */
	void *data;
};

/* Fetches all that is wanted. 0 if the servers were asked, whatever they had; -ENOSYS if the
 * library is not installed, -EDESTADDRREQ if no server is named, -EHOSTUNREACH if none answered:
 * then what was not tried has that error too. */
int debuginfod_fetch(struct debuginfod_want *wants, size_t count,
		     const struct debuginfod_progress *progress, struct error *err);
