/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the programs of call frame information (DWARF 5, 6.4.2), which give the unwind rule of each
 * address of a function.
 *
 *	if (cfi_program_run(&fde, UNWIND_X86_64, &rows) < 0)
 *		unwind_rows_rewind(&rows, &mark);
 */
#pragma once

#include "bpf/unwind_step.h"
#include "unwind/internal/cfi_types.h"

struct unwind_rows;

/* Runs the CIE's own program into ->initial; 0 or -EBADMSG. */
int cfi_program_initial(struct cfi_cie *cie, enum unwind_machine machine);
/* Runs the program of @fde and writes its rows to @rows. 0, or -EBADMSG at a malformed instruction;
 * the rows before it were written. */
int cfi_program_run(const struct cfi_fde *fde, enum unwind_machine machine,
		    struct unwind_rows *rows);
