/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shares out the time for building unwind tables among the owners of the files. A user can make new
 * files for ever, each of which takes long to read; when the user's time is used up, the files of
 * others are still read. Files of root take what they need.
 *
 *	struct parser_tokens t = { 0 };
 *	if (parser_tokens_left(&t, uid, now_ns))
 *		...	parser_tokens_spend(&t, uid, took_ns);
 *	parser_tokens_done(&t);
 */
#pragma once

#include "base/map.h"

#include <stdbool.h>

struct parser_tokens {
	struct map users; /* struct, by uid */
};

/* Whether the user @uid has time left at @now_ns. */
bool parser_tokens_left(struct parser_tokens *t, uint32_t uid, uint64_t now_ns);
/* Takes @ns from the user, for whom parser_tokens_left() was asked. */
void parser_tokens_spend(struct parser_tokens *t, uint32_t uid, uint64_t ns);
/* Frees all but itself. */
void parser_tokens_done(struct parser_tokens *t);
