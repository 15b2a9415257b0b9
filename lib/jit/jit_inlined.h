/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls that a run-time compiler inlined into a piece of code, in the form in which libopagent
 * writes them (agent/opagent.h). Integers in host byte order:
 *
 *	u32 calls  u32 rows
 *	calls times: u32 caller  u32 line  u32 file  u32 function
 *	rows times: u32 offset  u32 call
 *	names, each with a NUL
 *
 * File and function are offsets of names. All is kept as these bytes, and parsed when it is needed.
 *
 *	struct jit_inlined in;
 *	if (jit_inlined_read(bytes, size, &in))
 *		...
 *	jit_inlined_done(&in);
 */
#pragma once

#include "base/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	JIT_INLINED_MAX = 1 << 20, /* bytes for one piece of code; more are not kept */
	JIT_INLINED_DEPTH_MAX = 32 /* calls inside one another */
};

struct jit_inlined_call {
	uint32_t caller; /* number of the call that this one is in, counted from 1; 0: the code */
	uint32_t line;	 /* of the call in ->file; 0: unknown */
	const char *file, *function; /* "" if unknown; the called function */
	unsigned int depth;	     /* 1: called by the code itself */
};

struct jit_inlined_row {
	uint32_t offset; /* of the first instruction; rows rise */
	uint32_t call;	 /* number of the innermost call there; 0: none */
};

struct jit_inlined {
	struct jit_inlined_call *calls; /* each after its caller */
	struct jit_inlined_row *rows;	/* all inside the code */
	size_t call_count, row_count;
};

/* Parses the bytes of a piece of code of @size bytes. Names are borrowed from @in. Returns false,
 * with *@ret empty, if they make no sense. */
bool jit_inlined_read(struct span in, uint64_t size, struct jit_inlined *ret);
/* Frees the arrays. */
void jit_inlined_done(struct jit_inlined *in);
/* The number of the call at @depth around the innermost call of row @row, which is itself at its
 * own depth; 0 if that is less deep. */
uint32_t jit_inlined_at(const struct jit_inlined *in, size_t row, unsigned int depth);
