/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader of the event buffer, another program (man oprofile-buffer.5). At most one is
 * connected, over the control socket; the daemon's loop watches its connection.
 *
 *	reader_ask(&reader, answer, &err);	the command "buffer"
 *	reader_adopt(fd, &reader);		its connection
 *	reader_feed(&reader, false);		after each sync
 *	reader_take(&reader);			its socket is ready
 *	reader_end(&reader);
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"
#include "oprofilefs/nodes.h"
#include "collect/collector.h"

struct stream_outlet;

struct reader {
	int epoll;     /* the loop's; borrowed */
	uint32_t mark; /* the epoll data of the connection */
	struct collector *collector;
	const struct nodes *nodes;
	struct stream_outlet *outlet; /* NULL: no reader */
	uint64_t lost;	/* words dropped because readers before this one were too slow */
	uint32_t knows; /* counters enabled when it connected, one bit each */
};

/* Adds to @answer what a reader must know before its first words; 0, or -EBUSY if there is one. */
int reader_ask(struct reader *r, struct strbuf *answer, struct error *err);
/* Makes @fd the connection of the reader @data; closes it if there is one already. */
void reader_adopt(int fd, void *data);
/* Sends the waiting words if there is room for no more than the watershed, or with @now; the rest
 * follows when the socket takes more. */
void reader_feed(struct reader *r, bool now);
/* Called when the socket takes more or was closed. */
void reader_take(struct reader *r);
/* Disconnects a reader whose numbers of counters have become wrong. */
void reader_check(struct reader *r);
/* Disconnects the reader, if there is one. */
void reader_end(struct reader *r);
/* Words dropped so far because readers were too slow. */
uint64_t reader_lost(const struct reader *r);
