/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sends the event buffer to one reader through a socket. Nothing waits for a slow reader: up to a
 * limit, words wait here; what does not fit is dropped until the end of the sync, and counted. The
 * reader gets the stream as drivers write it (stream/evbuf.h), except for cookies, which only this
 * side can look up: anonymous memory has the cookie 0 and absolute addresses, and a kernel thread
 * has no application, as in the old kernel driver's buffer.
 *
 *	struct stream_outlet *o = stream_outlet_new(fd, &(struct stream_outlet_config){
 *		.room = 131072, .watershed = 32768, .cookies = cookies });
 *	stream_outlet_words(words, count, o);		an evbuf_sink
 *	stream_outlet_send(o, false);			after each sync
 *	stream_outlet_free(o);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cookie_table;
struct stream_outlet;

struct stream_outlet_config {
	size_t room;	  /* words that can wait */
	size_t watershed; /* they are sent once there is room for no more than this; below ->room */
	size_t ibs_op_words;		    /* words after that code; 0: 13 */
	const struct cookie_table *cookies; /* borrowed */
};

/* Takes @fd. */
struct stream_outlet *stream_outlet_new(int fd, const struct stream_outlet_config *config);
/* Closes the connection; NULL is fine. */
void stream_outlet_free(struct stream_outlet *o);
DEFINE_CLEANUP(struct stream_outlet *, stream_outlet_free);

/* An evbuf_sink: @data is the outlet; @words are whole records. Begins to send when there are
 * enough. Always 0. */
int stream_outlet_words(const uint64_t *words, size_t count, void *data);
/* Ends a sync: sends the words if there are enough, or with @now in any case. Returns 0; 1 if words
 * still wait for the socket; -EPIPE if the reader has closed it. */
int stream_outlet_send(struct stream_outlet *o, bool now);
/* Returns whether the reader has closed the connection. */
bool stream_outlet_gone(const struct stream_outlet *o);
/* Its socket; borrowed. */
int stream_outlet_fd(const struct stream_outlet *o);
/* Words dropped so far. */
uint64_t stream_outlet_lost(const struct stream_outlet *o);
