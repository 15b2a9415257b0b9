/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The search path for event description files: a list of directories, each with a subdirectory per
 * CPU type. The user's directories come before the installed ones. A struct evdir owns its paths.
 *
 *	struct evdir dirs;
 *	evdir_init(&dirs);
 *	evfile_read(&f, "x86-64/generic", evdir_source, &dirs, &err);
 *	evdir_done(&dirs);
 */
#pragma once

#include "base/error.h"
#include "event/internal/evfile.h"

#include <stddef.h>

enum { EVDIR_MAX = 8 };

struct evdir {
	char *paths[EVDIR_MAX];
	size_t count;
	size_t users; /* how many of these, from the first, are the user's */
};

/* Builds the search path: $OPROFILE_EVENTS_DIR, ~/.oprofile/events, /etc/oprofile/events, the
 * directory found relative to this executable (../share/oprofile if installed, events in its build
 * tree), and the one set at configure time. Release with evdir_done(). */
void evdir_init(struct evdir *dirs);
/* Frees the paths. */
void evdir_done(struct evdir *dirs);
/* Reads a file of a CPU type, as an evfile_source with a struct evdir as @data. All files of a CPU
 * type come from the first directory that has its "events", never from several. */
int evdir_source(void *data, const char *key, const char *name, size_t from,
		 struct evfile_text *ret, struct error *err);
/* Returns whether the events of the CPU type @key are the user's, not those shipped with
 * oprofile. */
bool evdir_is_users(const struct evdir *dirs, const char *key);
/* Returns the directories as "a, b" for messages; the caller frees it. */
char *evdir_text(const struct evdir *dirs);
