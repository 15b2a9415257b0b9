/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event buffer for one reader at the other end of a socket, who may be slow: words wait here,
 * up to a number, and what does not fit is dropped, from there to the end of the sync, and counted.
 * Nothing waits for the reader. It gets the stream as drivers write it (stream/evbuf.h).
 *
 *	struct stream_outlet *o = stream_outlet_new(fd, 131072, 32768);
 *	stream_outlet_words(words, count, o);		an evbuf_sink
 *	stream_outlet_send(o, false);			after each sync
 *	stream_outlet_free(o);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream_outlet;

/* Takes @fd. At most @room words wait; they are sent once there are @watershed of them. */
struct stream_outlet *stream_outlet_new(int fd, size_t room, size_t watershed);
/* Hangs up; NULL is fine. */
void stream_outlet_free(struct stream_outlet *o);
DEFINE_CLEANUP(struct stream_outlet *, stream_outlet_free);

/* An evbuf_sink: @data is the outlet. Always 0. */
int stream_outlet_words(const uint64_t *words, size_t count, void *data);
/* The end of a sync: sends, if there is enough or, with @now, whatever there is. 0; 1 where more
 * waits for the socket to take it; -EPIPE where the reader has gone. */
int stream_outlet_send(struct stream_outlet *o, bool now);
/* Whether the reader has hung up. */
bool stream_outlet_gone(const struct stream_outlet *o);
/* Its socket; borrowed. */
int stream_outlet_fd(const struct stream_outlet *o);
/* Words dropped so far. */
uint64_t stream_outlet_lost(const struct stream_outlet *o);
