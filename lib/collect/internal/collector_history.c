/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"
#include "base/strbuf.h"
#include "chains/chain_history.h"
#include "history/history_name.h"
#include "history/keeper.h"
#include "collect/collector.h"
#include "collect/internal/collector_state.h"
#include "collect/internal/session_functions.h"
#include "record/record.h"

#include <string.h>

/* Lets the keeper pack the pairs of call chains, of which there are many on a machine with many
 * CPUs. */
static void pack_chains(struct collector *c)
{
	struct upkeep how = c->upkeep;

	how.chains = &history_chains;
	how.functions = &session_functions;
	how.chains_live = record_live_chains(c->record);
	how.now_ms = window_now_ms();
	how.spares_files = true;
	if (keeper_ask(c->keeper, c->samples, &how))
		c->upkeep.chains_live = how.chains_live;
}

void collector_tend_history(struct collector *c)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	uint32_t generation = record_generation(c->record);
	struct upkeep how = c->upkeep;
	char *line, *rest;

	if (!c->keeper)
		return;
	if (keeper_take(c->keeper, &text)) {
		record_drop_images(c->record);
		for (rest = text.text; rest && (line = strsep(&rest, "\n")) && *line;)
			log_warn("%s/%s: %s", c->samples, HISTORY_DIRECTORY, line);
	}
	if (!generation || keeper_is_gone(c->keeper) || keeper_is_busy(c->keeper))
		return;
	if (generation == c->upkeep.live && !keeper_retries(c->keeper)) {
		if (record_has_chains_since(c->record, c->upkeep.chains_live))
			pack_chains(c);
		return;
	}
	/* The keeper adds up files that it moved away the last time: they must not be open. */
	if (!c->renewed)
		record_renew_files(c->record);
	c->renewed = true;
	if (record_renews(c->record))
		return;
	record_note_images(c->record);
	how.live = generation;
	how.chains = &history_chains;
	how.functions = &session_functions;
	how.chains_live = record_live_chains(c->record);
	how.now_ms = window_now_ms();
	c->renewed = !keeper_ask(c->keeper, c->samples, &how);
	if (!c->renewed)
		c->upkeep = how;
}

void collector_history_trouble(const struct collector *c, struct strbuf *out)
{
	if (c->keeper)
		keeper_trouble(c->keeper, out);
}
