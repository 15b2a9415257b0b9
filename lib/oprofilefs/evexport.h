/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event buffer as readers of the original's know it (man oprofile-buffer.5, FOREIGN READERS):
 * no codes of ours, each sample as often as it weighs, numbers of counters those of their
 * directories, and every read on its own: it begins with its whole context and ends with a record.
 *
 *	struct evexport *e = evexport_new(&config);
 *	evexport_put(e, words, count);			what came from the daemon, cut anywhere
 *	evexport_restart(e);				at the start of each read
 *	count = evexport_take(e, out, room);	0: more has to come first
 *	evexport_free(e);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	EVEXPORT_COUNTERS_MAX = 32,
	EVEXPORT_READ_MIN = 64 /* words that a read has room for, at least */
};

struct evexport_config {
	uint8_t counters[EVEXPORT_COUNTERS_MAX]; /* by number in the stream: in the export */
	size_t counter_count;			 /* samples of others are left out */
	size_t ibs_op_words;			 /* after that code; 0: 13 */
};

struct evexport;

/* Caller frees. */
struct evexport *evexport_new(const struct evexport_config *config);
/* NULL is fine. */
void evexport_free(struct evexport *e);
DEFINE_CLEANUP(struct evexport *, evexport_free);

/* Adds words of a stream that says its whole context before its first sample. */
void evexport_put(struct evexport *e, const uint64_t *words, size_t count);
/* What is taken next is read on its own. */
void evexport_restart(struct evexport *e);
/* Takes at most @room words, at least EVEXPORT_READ_MIN; returns how many. A call chain that does
 * not fit into @room words is cut short. */
size_t evexport_take(struct evexport *e, uint64_t *out, size_t room);
/* Whether something is left that was put and not taken, a record cut in two aside. */
bool evexport_ready(const struct evexport *e);
