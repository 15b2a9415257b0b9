/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of callers that the event buffer gives numbers to, so that a chain met again is a number.
 * With each goes where the chain store has it.
 *
 *	struct callers_table lists = CALLERS_TABLE_INIT;
 *	callers_begin(&lists, number, end, length);
 *	callers_add(&lists, &frame);
 *	list = callers_get(&lists, number);
 *	callers_table_done(&lists);
 */
#pragma once

#include "stream/evbuf.h"
#include "record/internal/chain_recorder.h"

struct callers {
	uint64_t end; /* enum chain_end */
	struct chain_recorder_mark mark;
	uint32_t count, room;
	struct evbuf_frame frames[]; /* the innermost first */
};

struct callers_table {
	struct callers **by_number; /* NULL: not given out */
	size_t count, room;
	struct callers *filling; /* the one that callers_add() adds to, or NULL */
};

#define CALLERS_TABLE_INIT ((struct callers_table){ 0 })

/* Begins the list @number anew, which will have @length callers; false if a number or length is
 * none that the event buffer has. */
bool callers_begin(struct callers_table *t, uint64_t number, uint64_t end, uint64_t length);
/* Adds a caller to the list begun last; false if that is as long as was said. */
bool callers_add(struct callers_table *t, const struct evbuf_frame *frame);
/* The list @number, borrowed until it is begun anew; NULL if there is none. */
struct callers *callers_get(const struct callers_table *t, uint64_t number);
/* Frees all lists. */
void callers_table_done(struct callers_table *t);
