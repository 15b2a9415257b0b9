/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where event description files lie: a search path of directories that hold a directory for each
 * CPU type, the user's before the installed ones.
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
	size_t users; /* of them the first, which are the user's */
};

/* The search path: $OPROFILE_EVENTS_DIR, ~/.oprofile/events, /etc/oprofile/events, those that go
 * with this executable (../share/oprofile where it is installed, events in its build tree), and
 * the one it was configured for. To be released with evdir_done(). */
void evdir_init(struct evdir *dirs);
/* Frees the paths. */
void evdir_done(struct evdir *dirs);
/* The evfile_source of a search path, which is its @data: a CPU type's files are those of the first
 * directory that has "events" of it, never of several. */
int evdir_source(void *data, const char *key, const char *name, size_t from,
		 struct evfile_text *ret, struct error *err);
/* Whether the events of the CPU type @key are the user's, not those that came with oprofile. */
bool evdir_is_users(const struct evdir *dirs, const char *key);
/* The directories, for messages: "a, b"; caller frees. */
char *evdir_text(const struct evdir *dirs);
