/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks a call stack with unwind tables, in user space: on the live memory of a stopped process or
 * on a copy of its stack, depending on ->read. Nothing is owned here.
 *
 *	struct unwind_frame f = { .pc = pc, .sp = sp, .exact = 1, .first = 1 };
 *	enum chain_end stop = unwind_chain(&f, &from, pcs, room, &count);
 */
#pragma once

#include "unwind/unwind.h"

/* The inputs of a walk. */
struct unwind_from {
	enum unwind_machine machine;
	const struct unwind_rules *rules;
	/* Finds the table of the image that @address is in, and the PC in that table. Returns
	 * CHAIN_GOES_ON, or why there is none. The table must be valid until the next call. */
	enum chain_end (*find)(void *data, uint64_t address, const struct unwind_table **ret,
			       uint64_t *ret_pc);
	unwind_read_fn *read; /* the stack */
	unwind_read_fn *code; /* code, where nothing describes it */
	unwind_reg_fn *reg;
	void *data; /* passed to all four */
};

/* Replaces *@f by its caller. Returns CHAIN_GOES_ON, or why there is none; *@f is then undefined.
 */
enum chain_end unwind_step(struct unwind_frame *f, const struct unwind_from *from);

/* Writes the addresses of *@f and its callers to @pcs, as unwind_chain_address() defines them, at
 * most @max, and their number to *@ret_count. Returns why the chain ends. */
enum chain_end unwind_chain(struct unwind_frame *f, const struct unwind_from *from, uint64_t *pcs,
			    size_t max, size_t *ret_count);
