/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recognises the DWARF expressions of call frame information that an unwind rule can express: all
 * that compilers emit, and most in hand-written assembly. Nothing is evaluated.
 *
 *	struct cfi_expression x;
 *
 *	if (cfi_expression_cfa(block, UNWIND_X86_64, &x) == 0 && x.cfa == UNWIND_CFA_REG)
 *		printf("register %d + %d", (int)x.reg, x.offset);
 */
#pragma once

#include "base/span.h"
#include "bpf/unwind_step.h"

/* A CFA; unwind_row.h says how a rule expresses each kind. */
struct cfi_expression {
	enum unwind_cfa cfa; /* REG, DEREF, PLT, INDEX */
	uint64_t reg;	     /* DWARF number; of an INDEX the multiplied one */
	int32_t offset;
	int16_t add;
};

/* Reads "breg N offset" off the front of @in; 0 or -EBADMSG. */
int cfi_expression_breg(struct span *in, uint64_t *ret_reg, int64_t *ret_offset);
/* Recognises @in as a CFA, that of a lazy PLT only on x86, an index only on x86-64. 0, or -EBADMSG
 * if it is anything else. */
int cfi_expression_cfa(struct span in, enum unwind_machine machine, struct cfi_expression *ret);
