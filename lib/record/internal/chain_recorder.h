/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records the call chains of a session: collects the frames of a chain from the event buffer and
 * adds the chain to the chain store when it ends. Call arcs are derived from the store
 * (chains/chain_arcs.h).
 *
 *	chain_recorder_begin(t, &owner, weight);
 *	chain_recorder_frame(t, &place);		innermost first
 *	chain_recorder_end(t, CHAIN_END_COMPLETE, &mark);
 */
#pragma once

#include "base/error.h"
#include "event/event.h"
#include "chains/chain_store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sampled_image;
struct chain_recorder;
struct relief;
struct slice;

/* The owner of a chain; fields that samples are not separated by are SNAME_ALL. */
struct chain_recorder_owner {
	struct sampled_image *app; /* NULL: unknown */
	uint32_t event;		   /* index */
	struct sname_task task;
};

struct chain_recorder_place {
	struct sampled_image *image; /* NULL: unknown */
	uint64_t key;
};

/* The place of a chain's callers in the store, while the store is open; all zero: none. */
struct chain_recorder_mark {
	uint32_t epoch, context;
	struct chain_callers callers;
};

struct chain_recorder_config {
	const char *samples;	    /* directory of the session; copied */
	const struct event *events; /* borrowed */
	size_t sample_events;	    /* the first events, whose weights are samples */
	bool has_history;	    /* slices are written */
	struct relief *relief;	    /* while the store is used; borrowed, or NULL */
};

/* Nothing is written before the first chain. Caller frees. */
struct chain_recorder *chain_recorder_new(const struct chain_recorder_config *config);
/* Closes the store; NULL is fine. */
void chain_recorder_free(struct chain_recorder *t);
/* Closes the store and drops the current chain, so that images can be freed. The next chain opens
 * the store again. */
void chain_recorder_close(struct chain_recorder *t);

/* Lets go of the images of all chains so far, so that some can be freed. Marks become invalid. */
void chain_recorder_let_go(struct chain_recorder *t);

/* Frees what the store has in memory for lookups: with a history, other files begin with the next
 * chain, and this takes some memory only as they fill. */
void chain_recorder_end_pair(struct chain_recorder *t);

/* Starts a chain of @weight samples; drops an unfinished one. */
void chain_recorder_begin(struct chain_recorder *t, const struct chain_recorder_owner *owner,
			  uint64_t weight);
/* Adds the next frame. A frame without an image ends the chain; if it is the first, the chain is
 * dropped. */
void chain_recorder_frame(struct chain_recorder *t, const struct chain_recorder_place *place);
/* Adds the current chain, if there is one, to the store; @end is why it ends (enum chain_end).
 * *@ret, if not NULL, is set to the place of its callers. */
void chain_recorder_end(struct chain_recorder *t, uint64_t end, struct chain_recorder_mark *ret);
/* The same for a chain with only its innermost frame, whose callers are at @mark. Returns false and
 * does nothing if @mark is no longer valid. */
bool chain_recorder_end_at(struct chain_recorder *t, uint64_t end,
			   const struct chain_recorder_mark *mark);
/* Ends a slice of the history: what was added since the last one. 0 or -errno. */
int chain_recorder_end_slice(struct chain_recorder *t, const struct slice *slice,
			     struct error *err);
/* Returns the first pair of files of the store that may still change (chain_store_live()). */
uint32_t chain_recorder_live(const struct chain_recorder *t);
/* Returns whether so many pairs have ended, from @first on, that they should be packed
 * (history/history_kind.h). */
bool chain_recorder_is_crowded(const struct chain_recorder *t, uint32_t first);
/* Stored samples by the end of their chain, indexed by enum chain_end. An event that does not count
 * samples counts as one each time. */
const uint64_t *chain_recorder_ends(const struct chain_recorder *t);
/* Samples whose chain could not be stored. */
uint64_t chain_recorder_lost(const struct chain_recorder *t);
/* Bytes mapped and allocated. */
size_t chain_recorder_memory(const struct chain_recorder *t);
