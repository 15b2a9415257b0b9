/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/internal/cfi_quick.h"

#include <dwarf.h>

/* Where a field of a rule is in its word, in bits. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SHIFT(field) (offsetof(struct unwind_rule, field) % 8 * 8)
#else
#define SHIFT(field)                                                                               \
	((8 - offsetof(struct unwind_rule, field) % 8 -                                            \
	  sizeof(((struct unwind_rule *)0)->field)) *                                              \
	 8)
#endif

/* The bits of a rule that say where a register is saved; with ->save at CFA + 8 * n. */
static const struct place {
	uint64_t save_mask, save; /* in the first one */
	uint64_t n_mask;	  /* in the second one */
	unsigned int n_shift;
} places[] = {
#define PLACE(n, ...)                                                                              \
	{                                                                                          \
		(uint64_t) UNWIND_SAVES(__VA_ARGS__) * 3 << SHIFT(saves),                          \
			(uint64_t)UNWIND_SAVES(__VA_ARGS__) * UNWIND_AT_CFA << SHIFT(saves),       \
			(uint64_t)UINT16_MAX << SHIFT(n), SHIFT(n)                                 \
	}
	[CFI_WHICH_FP] = PLACE(fp, 1, 0, 0),
	[CFI_WHICH_BX] = PLACE(bx, 0, 1, 0),
	[CFI_WHICH_RA] = PLACE(ra, 0, 0, 1),
#undef PLACE
};

/* A running program whose rule is plain (see is_plain()), kept in registers. */
struct quick {
	const uint8_t *at, *end;
	uint64_t pc, last; /* rows are written up to pc; of the function's last byte */
	uint64_t a, b;	   /* words of the rule */
};

/* Whether the rule is usable as it is, with a CFA that is a register plus a number. */
static bool is_plain(const struct cfi_state *s)
{
	return !s->special && s->rule.cfa == UNWIND_CFA_REG;
}

/* These run one instruction and return its size in bytes, or 0 if cfi_program.c must run it, such
 * as an advance by 0 or to the end of the function. */
static inline size_t run_advance(struct quick *q, const struct cfi_run *run, uint64_t delta,
				 size_t size)
{
	if (_unlikely_(delta - 1 >= q->last - q->pc))
		return 0;
	unwind_rows_put(run->rows, q->pc, q->a, q->b);
	q->pc += delta;
	return size;
}

static inline size_t run_def_cfa_offset(struct quick *q, size_t left)
{
	uint64_t offset;
	size_t size = 2;

	if (left < 2)
		return 0;
	offset = q->at[1];
	if (offset & 0x80) {
		if (left < 3 || q->at[2] & 0x80)
			return 0;
		offset = (offset & 0x7f) | (uint64_t)q->at[2] << 7;
		size = 3;
	}
	q->a = (q->a & ~((uint64_t)UINT32_MAX << SHIFT(cfa_offset))) | offset << SHIFT(cfa_offset);
	return size;
}

static inline size_t run_offset(struct quick *q, const struct cfi_cie *cie, unsigned int which,
				uint64_t factor)
{
	const struct place *p = &places[which];
	uint64_t n = (uint64_t)((int64_t)factor * cie->data_align >> 3);

	if (factor & 0x80)
		return 0;
	q->a = (q->a & ~p->save_mask) | p->save;
	q->b = (q->b & ~p->n_mask) | (n << p->n_shift & p->n_mask);
	return 2;
}

static inline size_t run_restore(struct quick *q, const struct cfi_cie *cie, unsigned int which)
{
	const struct place *p = &places[which];

	if (cie->initial.special)
		return 0;
	q->a = (q->a & ~p->save_mask) | (cie->initial.words[0] & p->save_mask);
	q->b = (q->b & ~p->n_mask) | (cie->initial.words[1] & p->n_mask);
	return 1;
}

static inline size_t run_remember(const struct quick *q, struct cfi_run *run)
{
	if (run->depth == CFI_STATES_MAX)
		return 0;
	run->stack[run->depth].words[0] = q->a;
	run->stack[run->depth].words[1] = q->b;
	run->stack[run->depth++].special = 0;
	return 1;
}

static inline size_t run_recall(struct quick *q, struct cfi_run *run)
{
	if (!run->depth || !is_plain(&run->stack[run->depth - 1]))
		return 0;
	run->depth--;
	q->a = run->stack[run->depth].words[0];
	q->b = run->stack[run->depth].words[1];
	return 1;
}

/* Runs the next instruction; its size, or 0 if it is not one of the common ones. */
static inline size_t run_next(struct quick *q, struct cfi_run *run)
{
	const struct cfi_cie *cie = run->cie;
	const uint8_t *at = q->at;
	size_t left = (size_t)(q->end - at);
	uint8_t byte = at[0], low = byte & 0x3f;

	/* The two most common first. */
	if ((byte & 0xc0) == DW_CFA_advance_loc)
		return run_advance(q, run, low * cie->code_align, 1);
	if (byte == DW_CFA_def_cfa_offset)
		return run_def_cfa_offset(q, left);
	if (byte >= DW_CFA_restore)
		return run_restore(q, cie, cie->which[low]);
	if (byte >= DW_CFA_offset)
		return left > 1 ? run_offset(q, cie, cie->which[low], at[1]) : 0;
	switch (byte) {
	case DW_CFA_nop: /* mostly padding up to the end; 8 bytes back is still in the FDE */
		return left <= 8 && !(get_le64(q->end - 8) >> (64 - left * 8)) ? left : 1;
	case DW_CFA_GNU_window_save: /* of AArch64 DW_CFA_AARCH64_negate_ra_state */
		return 1;
	case DW_CFA_remember_state:
		return run_remember(q, run);
	case DW_CFA_restore_state:
		return run_recall(q, run);
	case DW_CFA_advance_loc1:
		return left > 1 ? run_advance(q, run, at[1] * cie->code_align, 2) : 0;
	case DW_CFA_advance_loc2:
		return left > 2 ? run_advance(q, run, get_le16(at + 1) * cie->code_align, 3) : 0;
	}
	return 0;
}

void cfi_quick_run(struct cfi_run *run)
{
	struct quick q = { .at = run->in.at,
			   .end = run->in.at + run->in.left,
			   .pc = run->at - run->rows->base,
			   .last = run->fde->end - 1 - run->rows->base,
			   .a = run->state.words[0],
			   .b = run->state.words[1] };
	size_t size;

	if (!run->cie->is_quick || run->ended || !is_plain(&run->state))
		return;
	for (; q.at < q.end; q.at += size) {
		size = run_next(&q, run);
		if (!size)
			break;
	}
	run->in = span_of(q.at, (size_t)(q.end - q.at));
	run->at = run->rows->base + q.pc;
	run->state.words[0] = q.a;
	run->state.words[1] = q.b;
}
