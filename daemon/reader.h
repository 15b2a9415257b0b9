/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who reads the event buffer: one at a time, over a connection of the control socket, which the
 * loop of the daemon watches.
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
#include "record/collector.h"

struct stream_outlet;

struct reader {
	int epoll;     /* the loop's; borrowed */
	uint32_t mark; /* what it gets from epoll when the socket is ready */
	struct collector *collector;
	const struct nodes *nodes;
	struct stream_outlet *outlet; /* NULL: nobody reads */
	uint64_t lost;		      /* words that former ones were too slow for */
	uint32_t knows;		      /* the counters that were enabled when it came, a bit each */
};

/* Puts what a reader has to know before its first words into @answer; 0, or -EBUSY where there is
 * one. */
int reader_ask(struct reader *r, struct strbuf *answer, struct error *err);
/* @data is the struct reader, @fd becomes its connection, and is closed where there is one already.
 */
void reader_adopt(int fd, void *data);
/* Sends what waits, or with @now whatever there is; the rest goes when the socket takes more. */
void reader_feed(struct reader *r, bool now);
/* The socket takes more, or was hung up. */
void reader_take(struct reader *r);
/* Hangs up on one to whom the numbers of the counters would be wrong by now. */
void reader_check(struct reader *r);
/* Hangs up; nothing if nobody reads. */
void reader_end(struct reader *r);
/* Words that readers were too slow for, so far. */
uint64_t reader_lost(const struct reader *r);
