/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the programs of call frame information (DWARF 5, 6.4.2): each says, instruction by
 * instruction, from which address on which rule holds.
 *
 *	cfi_program_run(&fde, machine, &rows);
 */
#pragma once

#include "unwind/internal/cfi.h"
#include "unwind/internal/unwind_rows.h"

/* Runs the CIE's own program into ->initial; 0 or -EBADMSG. */
int cfi_program_initial(struct cfi_cie *cie, enum unwind_machine machine);
/* Runs the program of @fde, writing each row below its end to @rows. 0, or -EBADMSG at an
 * instruction that makes no sense; the rows before it were written. */
int cfi_program_run(const struct cfi_fde *fde, enum unwind_machine machine,
		    struct unwind_rows *rows);
