/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The DWARF expressions of call frame information that rules can say: all that compilers write, and
 * most of what assemblers do. They are known by their form, not evaluated.
 *
 *	struct cfi_expression x;
 *	if (cfi_expression_cfa(block, true, &x) == 0)
 *		... x.reg + x.offset ...
 */
#pragma once

#include "base/span.h"
#include "bpf/unwind_row.h"

#include <stdbool.h>

/* A CFA: what it means of a rule is in unwind_row.h. */
struct cfi_expression {
	enum unwind_cfa cfa; /* REG, DEREF, PLT, INDEX */
	uint64_t reg;	     /* DWARF number; of an INDEX the one that is multiplied */
	int32_t offset;
	int16_t add;
};

/* Reads "breg N offset" off the front of @in; 0 or -EBADMSG. */
int cfi_expression_breg(struct span *in, uint64_t *ret_reg, int64_t *ret_offset);
/* Understands @in as a CFA; the lazy PLT's and indices only with @x86. 0, or -EBADMSG if it is
 * something else.
 */
int cfi_expression_cfa(struct span in, bool x86, struct cfi_expression *ret);
