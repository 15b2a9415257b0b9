/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call chains of a session: frames are collected while a chain is taken from the event buffer,
 * and go to the chain store when it ends. Who asks for the arcs between them makes these from the
 * store (chains/chain_arcs.h).
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

/* Whose chain it is; fields that separate nothing are SNAME_ALL. */
struct chain_recorder_owner {
	struct sampled_image *app; /* NULL: nobody knows */
	uint32_t event;		   /* index */
	struct sname_task task;
};

struct chain_recorder_place {
	struct sampled_image *image; /* NULL: nobody knows where */
	uint64_t key;
};

/* Where the callers of a chain are in the store, as long as that lasts; all zero: nowhere. */
struct chain_recorder_mark {
	uint32_t epoch, context;
	struct chain_callers callers;
};

struct chain_recorder_config {
	const char *samples;	    /* chains go below it; copied */
	const struct event *events; /* borrowed */
	size_t sample_events;	    /* the first of them, whose weights are samples */
};

/* Nothing is written before the first chain. Caller frees. */
struct chain_recorder *chain_recorder_new(const struct chain_recorder_config *config);
/* Closes the store; NULL is fine. */
void chain_recorder_free(struct chain_recorder *t);
/* Closes the store and drops the chain being taken: the images may go away. The next chain opens it
 * again. */
void chain_recorder_close(struct chain_recorder *t);

/* A chain begins that @weight samples have. One that did not end is dropped. */
void chain_recorder_begin(struct chain_recorder *t, const struct chain_recorder_owner *owner,
			  uint64_t weight);
/* Its next frame. Without an image the chain is over; if it is the first one, it is no chain. */
void chain_recorder_frame(struct chain_recorder *t, const struct chain_recorder_place *place);
/* The chain is whole and ends for the reason @end (enum chain_end): it is added to the store.
 * Nothing if none has begun. *@ret, if not NULL, is set to where its callers are. */
void chain_recorder_end(struct chain_recorder *t, uint64_t end, struct chain_recorder_mark *ret);
/* The same for a chain of which only the innermost frame was given so far, while its callers are at
 * @mark; false, and nothing is done, where they are not. */
bool chain_recorder_end_at(struct chain_recorder *t, uint64_t end,
			   const struct chain_recorder_mark *mark);
/* Samples whose chain was counted by its end, an element for each; those whose chain could not be
 * stored. What counts something else than samples is one each time. */
const uint64_t *chain_recorder_ends(const struct chain_recorder *t);
/* Samples whose chain could not be stored. */
uint64_t chain_recorder_lost(const struct chain_recorder *t);
/* Bytes mapped and allocated. */
size_t chain_recorder_memory(const struct chain_recorder *t);
