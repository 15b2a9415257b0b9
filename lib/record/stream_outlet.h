/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event buffer for one reader at the other end of a socket, who may be slow: words wait here,
 * up to a number, and what does not fit is dropped, from there to the end of the sync, and counted.
 * Nothing waits for the reader. It gets the stream as drivers write it (stream/evbuf.h).
 *
 *	struct outlet *o = outlet_new(fd, 131072, 32768);
 *	outlet_words(words, count, o);		an evbuf_sink
 *	outlet_send(o, false);			after each sync; 1: again when the socket takes more
 *	outlet_free(o);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outlet;

/* Takes @fd. At most @room words wait; they are sent once there are @watershed of them. */
struct outlet *outlet_new(int fd, size_t room, size_t watershed);
/* Hangs up; NULL is fine. */
void outlet_free(struct outlet *o);
DEFINE_CLEANUP(struct outlet *, outlet_free);

/* An evbuf_sink: @data is the outlet. Always 0. */
int outlet_words(const uint64_t *words, size_t count, void *data);
/* The end of a sync: sends, if there is enough or, with @now, whatever there is. 0; 1 where more
 * waits for the socket to take it; -EPIPE where the reader has gone. */
int outlet_send(struct outlet *o, bool now);
/* Whether the reader has hung up. */
bool outlet_gone(const struct outlet *o);
/* Its socket; borrowed. */
int outlet_fd(const struct outlet *o);
/* Words dropped so far. */
uint64_t outlet_lost(const struct outlet *o);
