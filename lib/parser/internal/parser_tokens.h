/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shares out the time for building unwind tables among the owners of the files. A user can make new
 * files for ever, each of which takes long to read; when the user's time is used up, the files of
 * others are still read. Files of root on the host's own file system take what they need. Root's
 * files elsewhere may be those of a container: each other file system has the share of a user. So
 * do the host's files that are mapped by processes with mounts of their own: a container may have a
 * directory of the host mounted.
 *
 *	struct parser_tokens t = { 0 };
 *	struct parser_home home;
 *	parser_home_find(&home);
 *	uint64_t owner = parser_owner(&home, &st, tgid);
 *	if (parser_tokens_left(&t, owner, now_ns))
 *		...	parser_tokens_spend(&t, owner, took_ns);
 *	parser_tokens_done(&t);
 */
#pragma once

#include "base/map.h"

#include <stdbool.h>
#include <sys/stat.h>

struct parser_tokens {
	struct map users; /* struct, by owner */
};

/* What the host's own processes have. */
struct parser_home {
	dev_t device; /* of "/" */
	ino_t mounts; /* the number of the namespace; 0: unknown */
};

void parser_home_find(struct parser_home *ret);
/* Whose time reading the file takes that process @tgid (0: none) has mapped; 0: that of the host's
 * root. A process that has exited may have been in a container. */
uint64_t parser_owner(const struct parser_home *home, const struct stat *st, uint32_t tgid);
/* Whether @owner has time left at @now_ns. */
bool parser_tokens_left(struct parser_tokens *t, uint64_t owner, uint64_t now_ns);
/* Takes @ns from @owner, for whom parser_tokens_left() was asked. */
void parser_tokens_spend(struct parser_tokens *t, uint64_t owner, uint64_t ns);
/* Frees all but itself. */
void parser_tokens_done(struct parser_tokens *t);
