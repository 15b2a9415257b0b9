/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shares out the time for building unwind tables among the owners of the files. A user can make new
 * files for ever, each of which takes long to read; when the user's time is used up, the files of
 * others are still read. Files of root on the host's own file system take what they need. Root's
 * files elsewhere may be those of a container, each of which has a file system of its own: each
 * file system has the share of a user.
 *
 *	struct parser_tokens t = { 0 };
 *	uint64_t owner = parser_owner(&st, device);
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

/* Whose time reading a file takes; 0: the time of the host's root, whose "/" is on @device. */
uint64_t parser_owner(const struct stat *st, dev_t device);
/* Whether @owner has time left at @now_ns. */
bool parser_tokens_left(struct parser_tokens *t, uint64_t owner, uint64_t now_ns);
/* Takes @ns from @owner, for whom parser_tokens_left() was asked. */
void parser_tokens_spend(struct parser_tokens *t, uint64_t owner, uint64_t ns);
/* Frees all but itself. */
void parser_tokens_done(struct parser_tokens *t);
