/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/internal/cfi_expression.h"

#include <dwarf.h>
#include <stdbool.h>

enum { X86_SP = 7, I386_SP = 4 };

int cfi_expression_breg(struct span *in, uint64_t *ret_reg, int64_t *ret_offset)
{
	uint8_t op;

	if (span_u8(in, &op) < 0 || op < DW_OP_breg0 || op > DW_OP_breg31)
		return -EBADMSG;
	*ret_reg = (uint64_t)(op - DW_OP_breg0);
	return span_sleb(in, ret_offset);
}

/* Whether this is the rest of the CFA of a lazy PLT, rsp + 8 + ((rip & 15) >= n) * 8: a word more
 * once the slot has pushed its number. */
static bool is_plt(struct span in, bool ia32, uint8_t *ret_n)
{
	const uint8_t head[] = { ia32 ? DW_OP_breg8 : DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and };
	const uint8_t tail[] = { DW_OP_ge, ia32 ? DW_OP_lit2 : DW_OP_lit3, DW_OP_shl, DW_OP_plus };

	if (in.left != sizeof(head) + 1 + sizeof(tail) || memcmp(in.at, head, sizeof(head)) != 0 ||
	    memcmp(in.at + sizeof(head) + 1, tail, sizeof(tail)) != 0)
		return false;
	*ret_n = (uint8_t)(in.at[sizeof(head)] - DW_OP_lit0);
	return *ret_n < 16;
}

/* Reads "breg N 0, lit8, mul, plus" off the front of @in, which adds an index to rsp; false if it
 * is not there. */
static bool read_index(struct span *in, uint64_t *ret_reg)
{
	static const uint8_t tail[] = { DW_OP_lit8, DW_OP_mul, DW_OP_plus };
	struct span after = *in;
	const uint8_t *ops;
	int64_t offset;

	if (cfi_expression_breg(&after, ret_reg, &offset) < 0 || offset)
		return false;
	ops = span_take(&after, sizeof(tail));
	if (!ops || memcmp(ops, tail, sizeof(tail)) != 0)
		return false;
	*in = after;
	return true;
}

int cfi_expression_cfa(struct span in, enum unwind_machine machine, struct cfi_expression *ret)
{
	bool x86 = machine == UNWIND_X86_64, ia32 = machine == UNWIND_I386;
	struct cfi_expression x = { .cfa = UNWIND_CFA_REG };
	uint64_t add = 0;
	uint64_t index = 0;
	int64_t offset;
	uint8_t op = 0, n;
	bool indexed;

	if (cfi_expression_breg(&in, &x.reg, &offset) < 0 || offset < INT32_MIN / 2 ||
	    offset > INT32_MAX / 2)
		return -EBADMSG;
	x.offset = (int32_t)offset;
	if (((x86 && x.reg == X86_SP) || (ia32 && x.reg == I386_SP)) && is_plt(in, ia32, &n)) {
		x.cfa = UNWIND_CFA_PLT;
		x.add = n;
		*ret = x;
		return 0;
	}
	indexed = x86 && x.reg == X86_SP && read_index(&in, &index);
	if (in.left && *in.at == DW_OP_deref) {
		x.cfa = indexed ? UNWIND_CFA_INDEX : UNWIND_CFA_DEREF;
		(void)span_u8(&in, &op);
	} else if (indexed) {
		return -EBADMSG;
	}
	if (indexed)
		x.reg = index;
	if (in.left && (span_u8(&in, &op) < 0 || op != DW_OP_plus_uconst ||
			span_uleb(&in, &add) < 0 || add > INT16_MAX || in.left))
		return -EBADMSG;
	if (x.cfa == UNWIND_CFA_REG)
		x.offset += (int32_t)add;
	else
		x.add = (int16_t)add;
	*ret = x;
	return 0;
}
