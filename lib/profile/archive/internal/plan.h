/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of an archive's files while it is made, and those of it that are in the directories of
 * sessions, but are no sample files. The caller embeds the struct, whose pointers are borrowed.
 *
 *	struct plan p = { .gather = g, .binaries = bs, .config = config, .out = &archive, ... };
 *	plan_add_sessions(&p);
 *	plan_add(&p, "/usr/bin/app", "/usr/bin/app");
 */
#pragma once

#include "profile/archive/archive.h"

#include <stdbool.h>

struct gather_session;

struct plan {
	const struct gather *gather;
	struct binaries *binaries;
	const struct archive_config *config;
	struct archive *out;
	bool *done;    /* images already handled */
	bool *chained; /* images that are in chains */
	const struct gather_session *session;
};

/* Adds a file and returns it, valid until the next one is added. If another file already has its
 * path in the archive, warns and returns NULL. */
struct archive_file *plan_add(struct plan *p, const char *from, const char *to);
/* Adds a file that is at @below in the current session, ->session. */
void plan_add_of_session(struct plan *p, const char *path, const char *below);
/* Adds what is in the sessions, but for sample files. Of a part of a session, this is written
 * first, and ->chained set. */
void plan_add_sessions(struct plan *p);
