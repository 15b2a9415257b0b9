/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/internal/cfi_program.h"

#include "base/macro.h"
#include "unwind/internal/cfi_expression.h"
#include "unwind/internal/cfi_quick.h"

#include <dwarf.h>
#include <limits.h>

/* DWARF numbers of the registers that are tracked. */
static const struct {
	uint64_t sp, fp, bx;
} numbers[] = {
	[UNWIND_X86_64] = { .sp = 7, .fp = 6, .bx = 3 },
	[UNWIND_AARCH64] = { .sp = 31, .fp = 29, .bx = UINT64_MAX },
	[UNWIND_I386] = { .sp = 4, .fp = 5, .bx = 3 },
};

static_assert(ARRAY_SIZE(numbers) == UNWIND_MACHINE_COUNT_, "one row each");

/* Not in the dwarf.h of elfutils 0.188. */
enum { CFA_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c };

/* The CFA of glibc's __restore_rt: where the kernel's struct ucontext has rsp. */
enum { X86_SIGNAL_SP = 160 };
/* The same of the vdso's trampolines on i386: esp in struct sigcontext_32. */
enum { I386_CONTEXT_SP = 28 };

static enum cfi_which which_register(const struct cfi_run *run, uint64_t reg)
{
	if (reg == run->cie->ra)
		return CFI_WHICH_RA;
	if (reg == numbers[run->machine].fp)
		return CFI_WHICH_FP;
	return reg == numbers[run->machine].bx ? CFI_WHICH_BX : CFI_WHICH_NONE;
}

static void set_base(struct cfi_run *run, uint64_t reg)
{
	enum unwind_base base = UNWIND_BASE_OTHER;

	if (reg == numbers[run->machine].sp)
		base = UNWIND_BASE_SP;
	else if (reg == numbers[run->machine].fp)
		base = UNWIND_BASE_FP;
	else if (reg == numbers[run->machine].bx)
		base = UNWIND_BASE_BX;
	run->state.rule.base = (uint8_t)base;
	run->state.rule.reg = base == UNWIND_BASE_OTHER ? (uint8_t)reg : 0;
}

static void set_cfa_offset(struct cfi_run *run, int64_t offset)
{
	struct cfi_state *s = &run->state;

	s->cfa_why = s->rule.cfa == UNWIND_CFA_REG ? 0 : UNWIND_WHY_CFA;
	if (offset < INT32_MIN || offset > INT32_MAX)
		s->cfa_why = UNWIND_WHY_RANGE;
	s->rule.cfa_offset = (int32_t)offset;
}

static void set_cfa(struct cfi_run *run, uint64_t reg, int64_t offset)
{
	struct cfi_state *s = &run->state;

	s->rule.cfa = UNWIND_CFA_REG;
	s->rule.cfa_add = 0;
	set_base(run, reg);
	set_cfa_offset(run, offset);
	if (reg > UINT8_MAX)
		s->cfa_why = UNWIND_WHY_CFA;
}

/* Sets how a tracked register is saved; @n is in words if it is an offset. */
static void set_save(struct cfi_run *run, enum cfi_which which, enum unwind_save save, int16_t n)
{
	struct cfi_state *s = &run->state;
	const struct unwind_rule *rule = &s->rule;
	uint8_t fp = UNWIND_SAVE_FP(rule->saves), bx = UNWIND_SAVE_BX(rule->saves);
	uint8_t ra = UNWIND_SAVE_RA(rule->saves);

	switch (which) {
	case CFI_WHICH_NONE:
		return;
	case CFI_WHICH_FP:
		fp = save;
		s->rule.fp = n;
		break;
	case CFI_WHICH_BX:
		bx = save;
		s->rule.bx = n;
		break;
	case CFI_WHICH_RA:
		ra = save;
		s->rule.ra = n;
		s->outermost = false;
		s->ra_why = save == UNWIND_SAME || save == UNWIND_AT_CFA ? 0 : UNWIND_WHY_RA;
		break;
	}
	s->rule.saves = UNWIND_SAVES(fp, bx, ra);
}

static void set_saved_at(struct cfi_run *run, enum cfi_which which, enum unwind_save save,
			 int64_t offset)
{
	int64_t word = (int64_t)unwind_word(run->machine);
	bool fits = offset % word == 0 && offset >= INT16_MIN * word && offset <= INT16_MAX * word;

	set_save(run, which, fits ? save : UNWIND_LOST, fits ? (int16_t)(offset / word) : 0);
	if (which == CFI_WHICH_RA && !fits)
		run->state.ra_why = UNWIND_WHY_RANGE;
}

static void set_cfa_expression(struct cfi_run *run, struct span in)
{
	struct cfi_state *s = &run->state;
	struct cfi_expression x;

	s->cfa_why = UNWIND_WHY_CFA;
	s->rule.cfa = UNWIND_CFA_DEREF;
	if (cfi_expression_cfa(in, run->machine, &x) < 0)
		return;
	s->rule.cfa = (uint8_t)x.cfa;
	s->rule.cfa_add = x.add;
	s->rule.cfa_offset = x.offset;
	set_base(run, x.reg);
	/* The multiplied register is not one of those tracked. */
	if (x.cfa == UNWIND_CFA_INDEX) {
		s->rule.base = UNWIND_BASE_OTHER;
		s->rule.reg = (uint8_t)x.reg;
	}
	s->cfa_why = 0;
}

/* A register saved at the address of an expression: realigned frames use the frame pointer. */
static void set_save_expression(struct cfi_run *run, enum cfi_which which, struct span in)
{
	uint64_t reg, fp = numbers[run->machine].fp;
	int64_t offset;

	if (cfi_expression_breg(&in, &reg, &offset) == 0 && !in.left && reg == fp &&
	    which != CFI_WHICH_RA)
		set_saved_at(run, which, UNWIND_AT_FP, offset);
	else
		set_save(run, which, UNWIND_LOST, 0);
}

/* Restores the CIE's rule for the register. */
static void restore(struct cfi_run *run, uint64_t reg)
{
	const struct cfi_state *from = &run->cie->initial;
	enum cfi_which which = which_register(run, reg);

	switch (which) {
	case CFI_WHICH_NONE:
		break;
	case CFI_WHICH_FP:
		set_save(run, which, UNWIND_SAVE_FP(from->rule.saves), from->rule.fp);
		break;
	case CFI_WHICH_BX:
		set_save(run, which, UNWIND_SAVE_BX(from->rule.saves), from->rule.bx);
		break;
	case CFI_WHICH_RA:
		set_save(run, which, UNWIND_SAVE_RA(from->rule.saves), from->rule.ra);
		run->state.outermost = from->outermost;
		run->state.ra_why = from->ra_why;
		break;
	}
}

/* The rule if it is not simply the one that the program defined. */
static struct unwind_rule special_rule(const struct cfi_run *run)
{
	const struct cfi_state *s = &run->state;
	bool arm = run->machine == UNWIND_AARCH64, ia32 = run->machine == UNWIND_I386;
	const struct unwind_rule *r = &s->rule;
	bool is_at_sp = r->cfa == UNWIND_CFA_DEREF && r->base == UNWIND_BASE_SP;

	if (s->outermost)
		return (struct unwind_rule){ .cfa = UNWIND_CFA_END };
	if (s->signal && ia32 && is_at_sp)
		return (struct unwind_rule){ .cfa = UNWIND_CFA_SIGNAL,
					     .cfa_offset = r->cfa_offset - I386_CONTEXT_SP };
	if (s->signal && (arm || (!ia32 && is_at_sp && r->cfa_offset == X86_SIGNAL_SP)))
		return (struct unwind_rule){ .cfa = UNWIND_CFA_SIGNAL };
	if (s->cfa_why || s->ra_why)
		return (struct unwind_rule){ .base = s->cfa_why ? s->cfa_why : s->ra_why };
	return *r;
}

/* Writes the row that applies from run->at on. */
static inline void write_row(struct cfi_run *run)
{
	const struct cfi_state *s = &run->state;
	struct unwind_rule special;

	if (_likely_(!s->special)) {
		unwind_rows_put_rule(run->rows, run->at - run->rows->base, &s->rule);
		return;
	}
	special = special_rule(run);
	unwind_rows_put_rule(run->rows, run->at - run->rows->base, &special);
}

static inline int advance_to(struct cfi_run *run, uint64_t address)
{
	if (!run->fde || address < run->at)
		return -EBADMSG;
	if (address == run->at)
		return 0;
	write_row(run);
	run->at = address;
	run->ended = address >= run->fde->end;
	return 0;
}

static inline int advance(struct cfi_run *run, uint64_t count)
{
	uint64_t delta;

	if (__builtin_mul_overflow(count, run->cie->code_align, &delta))
		return -EBADMSG;
	return advance_to(run, run->at + delta);
}

/* @factor times the CIE's data alignment, the unit of the offsets of saved registers. */
static int64_t scaled(const struct cfi_run *run, int64_t factor)
{
	int64_t offset;

	return __builtin_mul_overflow(factor, run->cie->data_align, &offset) ? INT64_MAX : offset;
}

/* Operands of an instruction; those that it lacks are 0. */
struct operands {
	uint64_t a, b; /* signed operands are cast */
	struct span block;
};

typedef int op_function(struct cfi_run *run, const struct operands *o);

static int op_nop(struct cfi_run *run _unused_, const struct operands *o _unused_)
{
	return 0;
}

static int op_set_loc(struct cfi_run *run, const struct operands *o _unused_)
{
	/* The operand is encoded like the addresses of the FDE. A relative one would need the
	 * section's address, which is not kept, since no linker writes them. */
	if (run->cie->encoding != DW_EH_PE_absptr)
		return -EBADMSG;
	return advance_to(run, o->a);
}

static int op_advance(struct cfi_run *run, const struct operands *o)
{
	return advance(run, o->a);
}

static int op_offset(struct cfi_run *run, const struct operands *o)
{
	set_saved_at(run, which_register(run, o->a), UNWIND_AT_CFA, scaled(run, (int64_t)o->b));
	return 0;
}

static int op_negative_offset(struct cfi_run *run, const struct operands *o)
{
	set_saved_at(run, which_register(run, o->a), UNWIND_AT_CFA, scaled(run, -(int64_t)o->b));
	return 0;
}

static int op_restore(struct cfi_run *run, const struct operands *o)
{
	restore(run, o->a);
	return 0;
}

static int op_undefined(struct cfi_run *run, const struct operands *o)
{
	enum cfi_which which = which_register(run, o->a);

	set_save(run, which, UNWIND_LOST, 0);
	if (which == CFI_WHICH_RA)
		run->state.outermost = true;
	return 0;
}

static int op_same_value(struct cfi_run *run, const struct operands *o)
{
	enum cfi_which which = which_register(run, o->a);

	set_save(run, which, UNWIND_SAME, (int16_t)(which == CFI_WHICH_RA ? o->a : 0));
	return 0;
}

/* The caller's value is in another register: only tracked for the return address. */
static int op_register(struct cfi_run *run, const struct operands *o)
{
	enum cfi_which which = which_register(run, o->a);

	if (which == CFI_WHICH_RA && o->b <= UINT8_MAX)
		set_save(run, which, UNWIND_SAME, (int16_t)o->b);
	else
		set_save(run, which, UNWIND_LOST, 0);
	return 0;
}

static int op_lost(struct cfi_run *run, const struct operands *o)
{
	set_save(run, which_register(run, o->a), UNWIND_LOST, 0);
	return 0;
}

static int op_expression(struct cfi_run *run, const struct operands *o)
{
	set_save_expression(run, which_register(run, o->a), o->block);
	return 0;
}

static int op_remember(struct cfi_run *run, const struct operands *o _unused_)
{
	if (run->depth == CFI_STATES_MAX)
		return -EBADMSG;
	run->stack[run->depth++] = run->state;
	return 0;
}

static int op_recall(struct cfi_run *run, const struct operands *o _unused_)
{
	if (!run->depth)
		return -EBADMSG;
	run->state = run->stack[--run->depth];
	return 0;
}

static int op_def_cfa(struct cfi_run *run, const struct operands *o)
{
	set_cfa(run, o->a, o->b > INT64_MAX ? INT64_MAX : (int64_t)o->b);
	return 0;
}

static int op_def_cfa_sf(struct cfi_run *run, const struct operands *o)
{
	set_cfa(run, o->a, scaled(run, (int64_t)o->b));
	return 0;
}

static int op_def_cfa_register(struct cfi_run *run, const struct operands *o)
{
	bool was_register = run->state.rule.cfa == UNWIND_CFA_REG;

	set_cfa(run, o->a, run->state.rule.cfa_offset);
	if (!was_register)
		run->state.cfa_why = UNWIND_WHY_CFA;
	return 0;
}

static int op_def_cfa_offset(struct cfi_run *run, const struct operands *o)
{
	set_cfa_offset(run, o->a > INT64_MAX ? INT64_MAX : (int64_t)o->a);
	return 0;
}

static int op_def_cfa_offset_sf(struct cfi_run *run, const struct operands *o)
{
	set_cfa_offset(run, scaled(run, (int64_t)o->a));
	return 0;
}

static int op_def_cfa_expression(struct cfi_run *run, const struct operands *o)
{
	set_cfa_expression(run, o->block);
	return 0;
}

enum operand {
	OPERAND_NONE,
	OPERAND_U8,
	OPERAND_U16,
	OPERAND_U32,
	OPERAND_U64,
	OPERAND_ULEB,
	OPERAND_SLEB,
	OPERAND_BLOCK
};

struct op {
	op_function *function; /* NULL: no such instruction */
	uint8_t a, b;	       /* enum operand */
};

static const struct op ops[64] = {
	[DW_CFA_nop] = { op_nop },
	[DW_CFA_set_loc] = { op_set_loc, OPERAND_U64 },
	[DW_CFA_advance_loc1] = { op_advance, OPERAND_U8 },
	[DW_CFA_advance_loc2] = { op_advance, OPERAND_U16 },
	[DW_CFA_advance_loc4] = { op_advance, OPERAND_U32 },
	[DW_CFA_MIPS_advance_loc8] = { op_advance, OPERAND_U64 },
	[DW_CFA_offset_extended] = { op_offset, OPERAND_ULEB, OPERAND_ULEB },
	[DW_CFA_offset_extended_sf] = { op_offset, OPERAND_ULEB, OPERAND_SLEB },
	[DW_CFA_GNU_negative_offset_extended] = { op_negative_offset, OPERAND_ULEB, OPERAND_ULEB },
	[DW_CFA_restore_extended] = { op_restore, OPERAND_ULEB },
	[DW_CFA_undefined] = { op_undefined, OPERAND_ULEB },
	[DW_CFA_same_value] = { op_same_value, OPERAND_ULEB },
	[DW_CFA_register] = { op_register, OPERAND_ULEB, OPERAND_ULEB },
	[DW_CFA_remember_state] = { op_remember },
	[DW_CFA_restore_state] = { op_recall },
	[DW_CFA_def_cfa] = { op_def_cfa, OPERAND_ULEB, OPERAND_ULEB },
	[DW_CFA_def_cfa_sf] = { op_def_cfa_sf, OPERAND_ULEB, OPERAND_SLEB },
	[DW_CFA_def_cfa_register] = { op_def_cfa_register, OPERAND_ULEB },
	[DW_CFA_def_cfa_offset] = { op_def_cfa_offset, OPERAND_ULEB },
	[DW_CFA_def_cfa_offset_sf] = { op_def_cfa_offset_sf, OPERAND_SLEB },
	[DW_CFA_def_cfa_expression] = { op_def_cfa_expression, OPERAND_BLOCK },
	[DW_CFA_expression] = { op_expression, OPERAND_ULEB, OPERAND_BLOCK },
	[DW_CFA_val_expression] = { op_lost, OPERAND_ULEB, OPERAND_BLOCK },
	[DW_CFA_val_offset] = { op_lost, OPERAND_ULEB, OPERAND_ULEB },
	[DW_CFA_val_offset_sf] = { op_lost, OPERAND_ULEB, OPERAND_SLEB },
	[DW_CFA_GNU_args_size] = { op_nop, OPERAND_ULEB },
	/* The same number as DW_CFA_AARCH64_negate_ra_state: */
	[DW_CFA_GNU_window_save] = { op_nop },
	[CFA_AARCH64_NEGATE_RA_STATE_WITH_PC] = { op_nop },
};

static int read_operand(struct span *in, enum operand kind, uint64_t *ret, struct span *block)
{
	uint8_t byte;
	uint16_t half;
	uint32_t word;
	int r;

	switch (kind) {
	case OPERAND_NONE:
		return 0;
	case OPERAND_U8:
		r = span_u8(in, &byte);
		*ret = r == 0 ? byte : 0;
		return r;
	case OPERAND_U16:
		r = span_u16(in, &half);
		*ret = r == 0 ? half : 0;
		return r;
	case OPERAND_U32:
		r = span_u32(in, &word);
		*ret = r == 0 ? word : 0;
		return r;
	case OPERAND_U64:
		return span_u64(in, ret);
	case OPERAND_ULEB:
		return span_uleb(in, ret);
	case OPERAND_SLEB:
		return span_sleb(in, (int64_t *)ret);
	case OPERAND_BLOCK:
		r = span_uleb(in, ret);
		return r < 0 ? r : span_sub(in, (size_t)*ret, block);
	}
	return -EBADMSG;
}

/* Runs one instruction. Three kinds have an operand in the opcode byte. */
static int step(struct cfi_run *run)
{
	struct operands o = { .a = 0 };
	const struct op *op;
	uint8_t byte;

	if (span_u8(&run->in, &byte) < 0)
		return -EBADMSG;
	o.a = byte & 0x3f;
	switch (byte & 0xc0) {
	case DW_CFA_advance_loc:
		return advance(run, o.a);
	case DW_CFA_offset:
		if (span_uleb(&run->in, &o.b) < 0)
			return -EBADMSG;
		return which_register(run, o.a) ? op_offset(run, &o) : 0;
	case DW_CFA_restore:
		restore(run, o.a);
		return 0;
	}
	op = &ops[byte];
	if (!op->function || read_operand(&run->in, op->a, &o.a, &o.block) < 0 ||
	    read_operand(&run->in, op->b, &o.b, &o.block) < 0)
		return -EBADMSG;
	return op->function(run, &o);
}

int cfi_program_initial(struct cfi_cie *cie, enum unwind_machine machine)
{
	struct cfi_run run = { .in = cie->program, .machine = machine, .cie = cie };
	unsigned int reg;

	/* Until the program says more there is no CFA, and the return address is in its register,
	 * which on x86 is not a real one. */
	run.state.cfa_why = UNWIND_WHY_CFA;
	run.state.signal = cie->signal;
	run.state.rule.ra = cie->ra <= UINT8_MAX ? (int16_t)cie->ra : 0;
	run.state.ra_why = machine == UNWIND_AARCH64 ? 0 : UNWIND_WHY_RA;
	while (run.in.left)
		if (step(&run) < 0)
			return -EBADMSG;
	cie->initial = run.state;
	cie->is_quick = machine != UNWIND_I386 && cie->code_align <= UINT16_MAX &&
			cie->data_align % 8 == 0 && cie->data_align >= INT8_MIN &&
			cie->data_align <= INT8_MAX;
	for (reg = 0; reg < 64; reg++)
		cie->which[reg] = (uint8_t)which_register(&run, reg);
	return 0;
}

int cfi_program_run(const struct cfi_fde *fde, enum unwind_machine machine,
		    struct unwind_rows *rows)
{
	struct cfi_run run;

	/* Not initialised as a whole, because the stack is large and rarely used. */
	run.in = fde->program;
	run.machine = machine;
	run.cie = fde->cie;
	run.fde = fde;
	run.at = fde->start;
	run.state = fde->cie->initial;
	run.depth = 0;
	run.rows = rows;
	run.ended = fde->start >= fde->end;
	for (;;) {
		cfi_quick_run(&run);
		if (!run.in.left || run.ended)
			break;
		if (step(&run) < 0)
			return -EBADMSG;
	}
	if (!run.ended)
		write_row(&run);
	return 0;
}
