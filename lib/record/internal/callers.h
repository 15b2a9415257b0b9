/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists of callers, numbered in the event buffer, so that a repeated chain is one number. Each list
 * also stores its place in the chain store.
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
	struct callers **by_number; /* NULL: unused number */
	size_t count, room;
	struct callers *filling; /* the one that callers_add() adds to, or NULL */
};

#define CALLERS_TABLE_INIT ((struct callers_table){ 0 })

/* Replaces the list @number by an empty one for @length callers. Returns false if the number or
 * length is out of range. */
bool callers_begin(struct callers_table *t, uint64_t number, uint64_t end, uint64_t length);
/* Adds a caller to the list that callers_begin() last started; false if the list is full. */
bool callers_add(struct callers_table *t, const struct evbuf_frame *frame);
/* The list @number, borrowed until callers_begin() replaces it; NULL if there is none. */
struct callers *callers_get(const struct callers_table *t, uint64_t number);
/* Frees all lists. */
void callers_table_done(struct callers_table *t);
