/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds up all that the generations of a history counted, so that they can be removed: sum.N, a
 * segment of one slice (man ophistory.5). Readers list the generations first, then look for a sum:
 * what has vanished by then is in it.
 *
 *	sums_add(&(struct sums_of){ dir, &history_chains, NULL }, live, &log);
 */
#pragma once

#include <stdint.h>

struct history_kind;
struct segment_functions;
struct strbuf;

struct sums_of {
	const char *dir;
	const struct history_kind *kind;
	const struct segment_functions *functions; /* NULL: they are unknown */
};

/* Adds the generations before @live that are in no sum to the one there is. It may be interrupted
 * anywhere and done again. Adds lines about what failed or is damaged to @log. 0 or -errno. */
int sums_add(const struct sums_of *of, uint32_t live, struct strbuf *log);
