/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The whole call chains of a session: frames are collected while a chain is taken from the event
 * buffer, and go to the chain store when it ends.
 *
 *	trace_begin(t, &owner, weight);
 *	trace_frame(t, image, key);		innermost first
 *	trace_end(t, EVBUF_END_COMPLETE);
 */
#pragma once

#include "base/error.h"
#include "event/event.h"

#include <stddef.h>
#include <stdint.h>

struct binary;
struct trace;

/* Whose chain it is; fields that separate nothing are SNAME_ALL. */
struct trace_owner {
	struct binary *app;
	uint32_t event; /* index */
	int64_t tgid, tid, cpu;
};

/* Chains go below @samples, which is copied; @events is borrowed. Nothing is written before the
 * first chain. Caller frees. */
struct trace *trace_new(const char *samples, const struct event *events);
/* Closes the store; NULL is fine. */
void trace_free(struct trace *t);
/* Closes the store, drops the chain being taken: the images may go away. The next chain opens it
 * again. */
void trace_close(struct trace *t);

/* A chain begins that @weight samples have. One that did not end is dropped. */
void trace_begin(struct trace *t, const struct trace_owner *owner, uint64_t weight);
/* Its next frame is at @key of @image; NULL: nobody knows where, so the chain is over. */
void trace_frame(struct trace *t, struct binary *image, uint64_t key);
/* The chain is whole and ends for the reason @end (enum evbuf_end): it is added to the store.
 * Nothing if none has begun. */
void trace_end(struct trace *t, uint64_t end);

/* Samples whose chain was counted by its end, an element for each; those whose chain could not be
 * stored. */
const uint64_t *trace_ends(const struct trace *t);
uint64_t trace_lost(const struct trace *t);
/* Bytes mapped and allocated. */
size_t trace_memory(const struct trace *t);
