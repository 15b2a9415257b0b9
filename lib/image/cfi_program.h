/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the programs of call frame information (DWARF 5, 6.4.2): each says, instruction by
 * instruction, from which address on which rule holds.
 *
 *	static void row(void *data, uint64_t address, struct unwind_rule rule);
 *	cfi_program_run(&fde, machine, row, data);
 */
#pragma once

#include "image/cfi.h"

/* Takes the rule that holds from @address on; addresses rise. */
typedef void cfi_program_row(void *data, uint64_t address, struct unwind_rule rule);

/* Runs the CIE's own program into ->initial; 0 or -EBADMSG. */
int cfi_program_initial(struct cfi_cie *cie, enum unwind_machine machine);
/* Runs the program of @fde, giving each row below its end to @row. 0, or -EBADMSG at an instruction
 * that makes no sense; the rows before it were given. */
int cfi_program_run(const struct cfi_fde *fde, enum unwind_machine machine, cfi_program_row *row,
		    void *data);
