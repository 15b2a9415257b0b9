/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairs of files whose nodes are gone, although no segment and no sum has them: their call chains
 * are lost. A pair that is removed looks the same if that is interrupted, but is in a sum before.
 *
 *	struct chain_lost lost;
 *	chain_lost_find(dir, NULL, &lost, err);
 *	if (lost.pairs)
 *		printf("nodes.%" PRIu32 " is missing\n", lost.first);
 */
#pragma once

#include "base/error.h"

#include <stdint.h>

struct window;

struct chain_lost {
	uint64_t pairs;
	uint32_t first;	  /* the number of the first of them */
	uint64_t samples; /* of their chains, as far as their slices have them: there may be more */
};

/* Finds those in the directory @dir that have something in @window; NULL: anything. Returns 0 or
 * -errno. */
int chain_lost_find(const char *dir, const struct window *window, struct chain_lost *ret,
		    struct error *err);
