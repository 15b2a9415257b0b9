/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwinding a stack by tables, in user space: over the live memory of a stopped process or over a
 * copy, whatever ->read reads. Nothing is owned: table, rules and data are the caller's.
 *
 *	struct unwind_frame f = { .pc = pc, .sp = sp, .exact = 1, .first = 1 };
 *	enum unwind_stop stop = unwind_chain(&f, &from, pcs, room, &count);
 */
#pragma once

#include "unwind/unwind.h"

/* What an unwinding reads. */
struct unwind_from {
	const struct unwind_rules *rules;
	/* The table of the image that holds @address and the PC in it: UNWIND_GOING, or why there
	 * is none. The table is used before the next call. */
	enum unwind_stop (*find)(void *data, uint64_t address, const struct unwind_table **ret,
				 uint64_t *ret_pc);
	unwind_read_fn *read;
	unwind_reg_fn *reg;
	void *data; /* handed to all three */
};

/* Makes *@f its caller: UNWIND_GOING, or why it has none, *@f then being of no use. */
enum unwind_stop unwind_step(struct unwind_frame *f, const struct unwind_from *from);

/* Writes the PC of *@f and its callers', which are return addresses but for those that a signal
 * interrupted, to @pcs, at most @max; how many in *@ret_count; returns why there are no more. */
enum unwind_stop unwind_chain(struct unwind_frame *f, const struct unwind_from *from, uint64_t *pcs,
			      size_t max, size_t *ret_count);

/* Name in counters and what it says to people. */
const char *unwind_stop_name(enum unwind_stop stop);
const char *unwind_stop_text(enum unwind_stop stop);
