/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the rest of a tool in a child process that can do little more than read files and print, for
 * tools that parse files which others made. By default if the tool runs as root; --sandbox and
 * $OPROFILE_SANDBOX decide otherwise. The parent waits, and says which limit or crash ended the
 * child, and at which image.
 *
 *	struct confine c = { .writable = { "/var/cache/oprofile" } };
 *	int r = confine_enter(&c, err);
 *	if (r != 0)
 *		return r < 0 ? tool_fail(err) : c.status;	in the parent, at the end
 *	printf("%s", "the report");				in the child, or unconfined
 */
#pragma once

#include "base/error.h"
#include "base/opt.h"

#include <stdbool.h>

enum { CONFINE_WRITABLE_MAX = 3 };

/* The row of a tool's table of options. */
#define CONFINE_OPTION                                                                             \
	{                                                                                          \
		0, "sandbox", OPT_CALL, NULL, "[no]",                                              \
			"read files in a process that can only read and print (default: if run "   \
			"by root)",                                                                \
			confine_set                                                                \
	}

struct confine {
	/* Directories in which files may be written; NULL: none. If the first one is NULL, nothing
	 * is written as root after owner_become(). */
	const char *writable[CONFINE_WRITABLE_MAX];
	char *reading; /* PATH_MAX bytes, for the name of the image that is being read; shared with
			* the parent. NULL if not confined */
	/* Runs in the parent, if not NULL, until the child closes its end of ->socket. */
	void (*serve)(int socket, void *data);
	void *data; /* for ->serve */
	int socket; /* result in the child: its end; or -1 */
	int status; /* result in the parent: the status to exit with */
};

/* Handles --sandbox[=no]. 0 or -EINVAL. */
int confine_set(const char *arg, void *target, struct error *err);
/* Whether the options, the environment and the user want the rest to be confined. */
bool confine_is_wanted(void);
/* Keeps the present answer of confine_is_wanted(), before this process becomes another user. */
void confine_decide(void);
/* Whether --sandbox was given. */
bool confine_is_required(void);
/* Forks if confinement is wanted. Returns 0 in the child, and where nothing is confined; 1 in the
 * parent when the child has ended; or -errno. Kernels that lack a part of it are reported and used
 * without that part, but with --sandbox that is an error. Call it while there is one thread. */
int confine_enter(struct confine *c, struct error *err);
