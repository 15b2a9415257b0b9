/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fast half of the interpreter of call frame programs. cfi_program.c runs any instruction, one
 * at a time; this runs the common ones, several times as fast, as a large image has millions of
 * them. Both work on struct cfi_run and must give the same rows.
 *
 *	cfi_quick_run(&run);
 *	if (!run.in.left || run.ended)
 *		return 0;
 */
#pragma once

#include "bpf/unwind_step.h"
#include "unwind/internal/cfi_types.h"
#include "unwind/internal/unwind_rows.h"

enum { CFI_STATES_MAX = 16 }; /* nested DW_CFA_remember_state; compilers nest one */

/* The registers whose saved values are tracked. */
enum cfi_which { CFI_WHICH_NONE, CFI_WHICH_FP, CFI_WHICH_BX, CFI_WHICH_RA };

struct cfi_run {
	struct span in;
	enum unwind_machine machine;
	const struct cfi_cie *cie;
	const struct cfi_fde *fde; /* NULL: the CIE's own program */
	uint64_t at;		   /* address up to which rows were written */
	struct cfi_state state;
	struct cfi_state stack[CFI_STATES_MAX];
	size_t depth;
	struct unwind_rows *rows; /* NULL if ->fde is */
	bool ended;		  /* the function's end is reached */
};

/* Runs instructions of the FDE up to one that is uncommon or malformed. */
void cfi_quick_run(struct cfi_run *run);
