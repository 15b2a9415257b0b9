/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call chains of a session: frames are collected while a chain is taken from the event buffer,
 * and go to the chain store when it ends. Who asks for the arcs between them makes these from the
 * store (chains/chain_arcs.h).
 *
 *	trace_begin(t, &owner, weight);
 *	trace_frame(t, image, key);		innermost first
 *	trace_end(t, EVBUF_END_COMPLETE);
 */
#pragma once

#include "base/error.h"
#include "event/event.h"
#include "chains/chain_store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct binary;
struct trace;

/* Whose chain it is; fields that separate nothing are SNAME_ALL. */
struct trace_owner {
	struct binary *app; /* NULL: nobody knows */
	uint32_t event;	    /* index */
	int64_t tgid, tid, cpu;
	const char *cgroup; /* as in struct store_key */
};

struct trace_place {
	struct binary *image; /* NULL: nobody knows where */
	uint64_t key;
};

/* Where the callers of a chain are in the store, as long as that lasts; all zero: nowhere. */
struct trace_mark {
	uint32_t epoch, context;
	struct chain_callers callers;
};

struct trace_config {
	const char *samples;	    /* chains go below it; copied */
	const struct event *events; /* borrowed */
	size_t sample_events;	    /* the first of them, whose weights are samples */
};

/* Nothing is written before the first chain. Caller frees. */
struct trace *trace_new(const struct trace_config *config);
/* Closes the store; NULL is fine. */
void trace_free(struct trace *t);
/* Closes the store and drops the chain being taken: the images may go away. The next chain opens it
 * again. */
void trace_close(struct trace *t);

/* A chain begins that @weight samples have. One that did not end is dropped. */
void trace_begin(struct trace *t, const struct trace_owner *owner, uint64_t weight);
/* Its next frame. Without an image the chain is over; if it is the first one, it is no chain. */
void trace_frame(struct trace *t, const struct trace_place *place);
/* The chain is whole and ends for the reason @end (enum evbuf_end): it is added to the store.
 * Nothing if none has begun. *@ret, if not NULL, is set to where its callers are. */
void trace_end(struct trace *t, uint64_t end, struct trace_mark *ret);
/* The same for a chain of which only the innermost frame was given so far, while its callers are at
 * @mark; false, and nothing is done, where they are not. */
bool trace_end_at(struct trace *t, uint64_t end, const struct trace_mark *mark);
/* Samples whose chain was counted by its end, an element for each; those whose chain could not be
 * stored. What counts something else than samples is one each time. */
const uint64_t *trace_ends(const struct trace *t);
uint64_t trace_lost(const struct trace *t);
/* Bytes mapped and allocated. */
size_t trace_memory(const struct trace *t);
