/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/internal/chain_lost.h"

#include "base/mem.h"
#include "chains/chain_history.h"
#include "chains/chain_table.h"
#include "chains/internal/chain_past.h"
#include "history/history_source.h"
#include "history/window.h"

#include <inttypes.h>

/* The samples in the slices of a pair without nodes. */
static uint64_t samples_of(const char *dir, uint32_t pair, const struct window *window)
{
	_cleanup_(slices_freep) struct slices *slices = NULL;
	const struct chain_table none = { .fd = -1, .count = 1 };
	struct chain_past past;
	uint64_t samples;

	if (chain_past_open(dir, pair, &slices, NULL) < 0)
		return 0;
	chain_past_read(slices, window ?: &WINDOW_ALL, &none, &past);
	samples = past.unknown;
	chain_past_done(&past);
	return samples;
}

/* Whether anything was stored in a pair: a writer makes the file of its nodes before it adds
 * places. */
static bool has_places(const char *dir, uint32_t pair)
{
	_cleanup_free_ char *path = xasprintf("%s/places.%" PRIu32, dir, pair);
	struct chain_table places = CHAIN_TABLE_INIT;
	bool has = chain_table_open(&places, path, CHAIN_TABLE_PLACES, false, NULL) == 0 &&
		   places.count > 1;

	chain_table_close(&places);
	return has;
}

int chain_lost_find(const char *dir, const struct window *window, struct chain_lost *ret,
		    struct error *err)
{
	_cleanup_free_ uint32_t *pairs = NULL;
	size_t count, i;
	int r = sources_lost(dir, &history_chains, &pairs, &count, err);

	*ret = (struct chain_lost){ 0 };
	for (i = 0; r == 0 && i < count; i++) {
		uint64_t samples = samples_of(dir, pairs[i], window);

		if (!samples && (window || !has_places(dir, pairs[i])))
			continue;
		if (!ret->pairs++)
			ret->first = pairs[i];
		ret->samples += samples;
	}
	return r;
}
