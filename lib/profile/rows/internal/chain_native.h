/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call chains as they are on the C stack: without the functions that an interpreter runs. Each call
 * of the interpreter's own function is there already, except where the sample counts for what it
 * runs: that becomes the interpreter's.
 *
 *	struct chain_native n = { .gather = gather, .rows = rows };
 *	count = chain_native_take(&n, app, ids, count);
 *	chain_native_done(&n);
 */
#pragma once

#include "base/map.h"
#include "profile/rows/row_join.h"

#include <stdint.h>

struct container;
struct gather;

struct chain_native {
	const struct gather *gather; /* borrowed, like ->rows, to which rows are added */
	struct container *rows;
	struct row_join loops;	 /* rows of functions that interpret */
	struct map interpreters; /* see row_join_loop() */
	struct map of_row;	 /* the application and the id of a row: what to do with it */
};

/* Changes a chain of rows of the application @app, the innermost first. Returns their number, at
 * least 1. */
uint32_t chain_native_take(struct chain_native *n, uint32_t app, uint32_t *ids, uint32_t count);
/* Frees what it allocated. */
void chain_native_done(struct chain_native *n);
