/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program of call frame information that runs. Any instruction is run by cfi_program.c, step by
 * step; those that programs mostly are made of by cfi_quick.c, which is all about speed: a large
 * image has millions of them.
 *
 *	cfi_run_quickly(&run);
 *	if (run.in.left && !run.ended)
 *		... the next one is none of these ...
 */
#pragma once

#include "unwind/internal/cfi.h"
#include "unwind/internal/unwind_rows.h"

enum { CFI_STATES_MAX = 16 }; /* remembered at a time: compilers nest one */

/* The registers that are followed. */
enum cfi_which { CFI_WHICH_NONE, CFI_WHICH_FP, CFI_WHICH_BX, CFI_WHICH_RA };

struct cfi_run {
	struct span in;
	enum unwind_machine machine;
	const struct cfi_cie *cie;
	const struct cfi_fde *fde; /* NULL: the CIE's own program */
	uint64_t at;		   /* address that the rows have reached */
	struct cfi_state state;
	struct cfi_state stack[CFI_STATES_MAX];
	size_t depth;
	struct unwind_rows *rows; /* NULL as ->fde */
	bool ended;		  /* the function's end is reached */
};

/* Runs instructions of the FDE up to one that is not common, or that makes no sense. */
void cfi_run_quickly(struct cfi_run *run);
