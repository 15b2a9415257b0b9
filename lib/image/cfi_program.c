/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/cfi_program.h"

#include "base/macro.h"
#include "image/cfi_expression.h"

#include <dwarf.h>
#include <limits.h>

enum {
	STATES_MAX = 16, /* remembered at a time: compilers nest one */
	X86_BX = 3,
	X86_FP = 6,
	X86_SP = 7,
	X86_RA = 16,
	ARM_FP = 29,
	ARM_LR = 30,
	ARM_SP = 31,
};

/* Later than elfutils 0.188's dwarf.h. */
enum { CFA_AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c };

/* The CFA of glibc's __restore_rt: rsp as the kernel's struct ucontext has it. */
enum { X86_SIGNAL_SP = 160 };

/* A program that runs. */
struct run {
	struct span in;
	enum unwind_machine machine;
	const struct cfi_cie *cie;
	const struct cfi_fde *fde; /* NULL: the CIE's own program */
	uint64_t at;		   /* address that the rows have reached */
	struct cfi_state state;
	struct cfi_state stack[STATES_MAX];
	size_t depth;
	struct unwind_rows *rows; /* NULL as ->fde */
	bool changed;		  /* the state is not that of the last row */
	bool ended;		  /* the function's end is reached */
};

/* Stores a field of the rule over the whole word it is in. */
static inline void put_bytes(struct cfi_state *s, size_t at, size_t size, uint64_t value)
{
	uint64_t mask = (1ULL << size * 8) - 1;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	size_t shift = at % 8 * 8;
#else
	size_t shift = (8 - at % 8 - size) * 8;
#endif

	uint64_t word = (s->words[at / 8] & ~(mask << shift)) | (value & mask) << shift;

	__asm__("" : "+r"(word)); /* or compilers store the field alone */
	s->words[at / 8] = word;
}
#define PUT(s, field, value)                                                                       \
	put_bytes((s), offsetof(struct unwind_rule, field),                                        \
		  sizeof(((struct unwind_rule *)NULL)->field), (uint64_t)(value))

/* The registers that are followed. */
enum which { WHICH_NONE, WHICH_FP, WHICH_BX, WHICH_RA };

static enum which which_register(const struct run *run, uint64_t reg)
{
	if (reg == run->cie->ra)
		return WHICH_RA;
	if (run->machine == UNWIND_AARCH64)
		return reg == ARM_FP ? WHICH_FP : WHICH_NONE;
	return reg == X86_FP ? WHICH_FP : reg == X86_BX ? WHICH_BX : WHICH_NONE;
}

static void set_base(struct run *run, uint64_t reg)
{
	bool arm = run->machine == UNWIND_AARCH64;
	enum unwind_base base = UNWIND_BASE_OTHER;

	if (reg == (arm ? ARM_SP : X86_SP))
		base = UNWIND_BASE_SP;
	else if (reg == (arm ? ARM_FP : X86_FP))
		base = UNWIND_BASE_FP;
	else if (!arm && reg == X86_BX)
		base = UNWIND_BASE_BX;
	PUT(&run->state, base, base);
	PUT(&run->state, reg, base == UNWIND_BASE_OTHER ? reg : 0);
}

static void set_cfa_offset(struct run *run, int64_t offset)
{
	struct cfi_state *s = &run->state;

	uint8_t why = s->rule.cfa == UNWIND_CFA_REG ? 0 : UNWIND_WHY_CFA;

	run->changed = true;
	if (offset < INT32_MIN || offset > INT32_MAX)
		why = UNWIND_WHY_RANGE;
	/* Hardly ever: what is written is read again at once, and wider. */
	if (_unlikely_(s->cfa_why != why))
		s->cfa_why = why;
	PUT(s, cfa_offset, offset);
}

static void set_cfa(struct run *run, uint64_t reg, int64_t offset)
{
	struct cfi_state *s = &run->state;

	PUT(s, cfa, UNWIND_CFA_REG);
	PUT(s, cfa_add, 0);
	set_base(run, reg);
	set_cfa_offset(run, offset);
	if (reg > UINT8_MAX)
		s->cfa_why = UNWIND_WHY_CFA;
}

/* Sets how a followed register is saved, @n being in units of 8 bytes where it has a meaning. */
static void set_save(struct run *run, enum which which, enum unwind_save save, int16_t n)
{
	struct cfi_state *s = &run->state;
	const struct unwind_rule *rule = &s->rule;
	uint8_t fp = UNWIND_SAVE_FP(rule->saves), bx = UNWIND_SAVE_BX(rule->saves);
	uint8_t ra = UNWIND_SAVE_RA(rule->saves);

	switch (which) {
	case WHICH_NONE:
		return;
	case WHICH_FP:
		fp = save;
		PUT(s, fp, n);
		break;
	case WHICH_BX:
		bx = save;
		PUT(s, bx, n);
		break;
	case WHICH_RA:
		ra = save;
		PUT(s, ra, n);
		s->outermost = false;
		s->ra_why = save == UNWIND_SAME || save == UNWIND_AT_CFA ? 0 : UNWIND_WHY_RA;
		break;
	}
	PUT(s, saves, UNWIND_SAVES(fp, bx, ra));
	run->changed = true;
}

static void set_saved_at(struct run *run, enum which which, enum unwind_save save, int64_t offset)
{
	bool fits = !(offset & 7) && offset >= INT16_MIN * 8L && offset <= INT16_MAX * 8L;

	set_save(run, which, fits ? save : UNWIND_LOST, fits ? (int16_t)(offset / 8) : 0);
	if (which == WHICH_RA && !fits)
		run->state.ra_why = UNWIND_WHY_RANGE;
}

static void set_cfa_expression(struct run *run, struct span in)
{
	struct cfi_state *s = &run->state;
	struct cfi_expression x;

	run->changed = true;
	s->cfa_why = UNWIND_WHY_CFA;
	PUT(s, cfa, UNWIND_CFA_DEREF);
	if (cfi_expression_cfa(in, run->machine == UNWIND_X86_64, &x) < 0)
		return;
	PUT(s, cfa, x.cfa);
	PUT(s, cfa_add, x.add);
	PUT(s, cfa_offset, x.offset);
	set_base(run, x.reg);
	/* Whatever is multiplied, it is none of those that are followed. */
	if (x.cfa == UNWIND_CFA_INDEX) {
		PUT(s, base, UNWIND_BASE_OTHER);
		PUT(s, reg, x.reg);
	}
	s->cfa_why = 0;
}

/* A register saved where an expression says: realigned frames count from the frame pointer. */
static void set_save_expression(struct run *run, enum which which, struct span in)
{
	uint64_t reg, fp = run->machine == UNWIND_AARCH64 ? ARM_FP : X86_FP;
	int64_t offset;

	if (cfi_expression_breg(&in, &reg, &offset) == 0 && !in.left && reg == fp &&
	    which != WHICH_RA)
		set_saved_at(run, which, UNWIND_AT_FP, offset);
	else
		set_save(run, which, UNWIND_LOST, 0);
}

/* Puts the register back to how the CIE has it. */
static void restore(struct run *run, uint64_t reg)
{
	const struct cfi_state *from = &run->cie->initial;
	enum which which = which_register(run, reg);

	switch (which) {
	case WHICH_NONE:
		break;
	case WHICH_FP:
		set_save(run, which, UNWIND_SAVE_FP(from->rule.saves), from->rule.fp);
		break;
	case WHICH_BX:
		set_save(run, which, UNWIND_SAVE_BX(from->rule.saves), from->rule.bx);
		break;
	case WHICH_RA:
		set_save(run, which, UNWIND_SAVE_RA(from->rule.saves), from->rule.ra);
		run->state.outermost = from->outermost;
		run->state.ra_why = from->ra_why;
		break;
	}
}

/* The rule where it is not simply the one that the program has spelt out. */
static struct unwind_rule special_rule(const struct run *run)
{
	const struct cfi_state *s = &run->state;
	bool arm = run->machine == UNWIND_AARCH64;
	const struct unwind_rule *r = &s->rule;

	if (s->outermost)
		return (struct unwind_rule){ .cfa = UNWIND_CFA_END };
	if (s->signal && (arm || (r->cfa == UNWIND_CFA_DEREF && r->base == UNWIND_BASE_SP &&
				  r->cfa_offset == X86_SIGNAL_SP)))
		return (struct unwind_rule){ .cfa = UNWIND_CFA_SIGNAL };
	if (s->cfa_why || s->ra_why)
		return (struct unwind_rule){ .base = s->cfa_why ? s->cfa_why : s->ra_why };
	return *r;
}

/* Writes the row for what holds since run->at. */
static inline void write_row(struct run *run)
{
	const struct cfi_state *s = &run->state;
	struct unwind_rule special;

	run->changed = false;
	if (_likely_(!s->special)) {
		unwind_rows_put(run->rows, run->at, &s->rule);
		return;
	}
	special = special_rule(run);
	unwind_rows_put(run->rows, run->at, &special);
}

static inline int advance_to(struct run *run, uint64_t address)
{
	if (!run->fde || address < run->at)
		return -EBADMSG;
	if (address == run->at)
		return 0;
	if (run->changed)
		write_row(run);
	run->at = address;
	run->ended = address >= run->fde->end;
	return 0;
}

static inline int advance(struct run *run, uint64_t count)
{
	uint64_t delta;

	if (__builtin_mul_overflow(count, run->cie->code_align, &delta))
		return -EBADMSG;
	return advance_to(run, run->at + delta);
}

/* @factor times the CIE's data alignment, as the offsets of saved registers are written. */
static int64_t scaled(const struct run *run, int64_t factor)
{
	int64_t offset;

	return __builtin_mul_overflow(factor, run->cie->data_align, &offset) ? INT64_MAX : offset;
}

/* Operands of an instruction, as far as it has them. */
struct operands {
	uint64_t a, b; /* b of a signed operand is that, cast */
	struct span block;
};

typedef int op_function(struct run *run, const struct operands *o);

static int op_nop(struct run *run, const struct operands *o)
{
	(void)run;
	(void)o;
	return 0;
}

static int op_set_loc(struct run *run, const struct operands *o)
{
	(void)o;
	/* Its operand is an address in the encoding of the FDE. The section's address, that
	 * relative ones need, is not kept: no linker writes them. */
	if (run->cie->encoding != DW_EH_PE_absptr)
		return -EBADMSG;
	return advance_to(run, o->a);
}

static int op_advance(struct run *run, const struct operands *o)
{
	return advance(run, o->a);
}

static int op_offset(struct run *run, const struct operands *o)
{
	set_saved_at(run, which_register(run, o->a), UNWIND_AT_CFA, scaled(run, (int64_t)o->b));
	return 0;
}

static int op_negative_offset(struct run *run, const struct operands *o)
{
	set_saved_at(run, which_register(run, o->a), UNWIND_AT_CFA, scaled(run, -(int64_t)o->b));
	return 0;
}

static int op_restore(struct run *run, const struct operands *o)
{
	restore(run, o->a);
	return 0;
}

static int op_undefined(struct run *run, const struct operands *o)
{
	enum which which = which_register(run, o->a);

	set_save(run, which, UNWIND_LOST, 0);
	if (which == WHICH_RA)
		run->state.outermost = run->changed = true;
	return 0;
}

static int op_same_value(struct run *run, const struct operands *o)
{
	enum which which = which_register(run, o->a);

	set_save(run, which, UNWIND_SAME, (int16_t)(which == WHICH_RA ? o->a : 0));
	return 0;
}

/* The caller's value is in another register: only followed for the return address. */
static int op_register(struct run *run, const struct operands *o)
{
	enum which which = which_register(run, o->a);

	if (which == WHICH_RA && o->b <= UINT8_MAX)
		set_save(run, which, UNWIND_SAME, (int16_t)o->b);
	else
		set_save(run, which, UNWIND_LOST, 0);
	return 0;
}

static int op_lost(struct run *run, const struct operands *o)
{
	set_save(run, which_register(run, o->a), UNWIND_LOST, 0);
	return 0;
}

static int op_expression(struct run *run, const struct operands *o)
{
	set_save_expression(run, which_register(run, o->a), o->block);
	return 0;
}

static int op_remember(struct run *run, const struct operands *o)
{
	(void)o;
	if (run->depth == STATES_MAX)
		return -EBADMSG;
	run->stack[run->depth++] = run->state;
	return 0;
}

static int op_recall(struct run *run, const struct operands *o)
{
	(void)o;
	if (!run->depth)
		return -EBADMSG;
	run->state = run->stack[--run->depth];
	run->changed = true;
	return 0;
}

static int op_def_cfa(struct run *run, const struct operands *o)
{
	set_cfa(run, o->a, o->b > INT64_MAX ? INT64_MAX : (int64_t)o->b);
	return 0;
}

static int op_def_cfa_sf(struct run *run, const struct operands *o)
{
	set_cfa(run, o->a, scaled(run, (int64_t)o->b));
	return 0;
}

static int op_def_cfa_register(struct run *run, const struct operands *o)
{
	bool was_register = run->state.rule.cfa == UNWIND_CFA_REG;

	set_cfa(run, o->a, run->state.rule.cfa_offset);
	if (!was_register)
		run->state.cfa_why = UNWIND_WHY_CFA;
	return 0;
}

static int op_def_cfa_offset(struct run *run, const struct operands *o)
{
	set_cfa_offset(run, o->a > INT64_MAX ? INT64_MAX : (int64_t)o->a);
	return 0;
}

static int op_def_cfa_offset_sf(struct run *run, const struct operands *o)
{
	set_cfa_offset(run, scaled(run, (int64_t)o->a));
	return 0;
}

static int op_def_cfa_expression(struct run *run, const struct operands *o)
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
	op_function *function; /* NULL: there is no such instruction */
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
	/* DW_CFA_AARCH64_negate_ra_state has the number of: */
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

/* Runs one instruction. Three kinds have an operand in their own byte. */
static int step(struct run *run)
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

/* Runs those that programs mostly are made of, up to another one, which may be one of them that
 * makes no sense. */
static inline void run_common(struct run *run)
{
	const uint8_t *at = run->in.at, *end = at + run->in.left;

	while (at < end && !run->ended) {
		uint8_t byte = at[0], low = byte & 0x3f;

		if ((byte & 0xc0) == DW_CFA_advance_loc) {
			if (advance(run, low) < 0)
				break;
			at++;
			continue;
		}
		if (byte == DW_CFA_nop) {
			at++;
			continue;
		}
		if (end - at < 2 || at[1] & 0x80) /* the operand is not one byte */
			break;
		if ((byte & 0xc0) == DW_CFA_offset) {
			if (run->cie->followed >> low & 1)
				op_offset(run, &(struct operands){ low, at[1] });
		} else if (byte == DW_CFA_def_cfa_offset) {
			set_cfa_offset(run, at[1]);
		} else if (byte != DW_CFA_advance_loc1 || advance(run, at[1]) < 0) {
			break;
		}
		at += 2;
	}
	run->in = span_of(at, (size_t)(end - at));
}

int cfi_program_initial(struct cfi_cie *cie, enum unwind_machine machine)
{
	struct run run = { .in = cie->program, .machine = machine, .cie = cie };
	unsigned int reg;

	/* Until the program says more: no CFA, and the return address in its register, which on
	 * x86-64 is none. */
	run.state.cfa_why = UNWIND_WHY_CFA;
	run.state.signal = cie->signal;
	PUT(&run.state, ra, cie->ra <= UINT8_MAX ? cie->ra : 0);
	run.state.ra_why = machine == UNWIND_X86_64 ? UNWIND_WHY_RA : 0;
	while (run.in.left)
		if (step(&run) < 0)
			return -EBADMSG;
	cie->initial = run.state;
	for (reg = 0; reg < 64; reg++)
		cie->followed |= (uint64_t)(which_register(&run, reg) != WHICH_NONE) << reg;
	return 0;
}

int cfi_program_run(const struct cfi_fde *fde, enum unwind_machine machine,
		    struct unwind_rows *rows)
{
	struct run run;

	/* Not initialised as a whole: the stack is large and rarely used. */
	run.in = fde->program;
	run.machine = machine;
	run.cie = fde->cie;
	run.fde = fde;
	run.at = fde->start;
	run.state = fde->cie->initial;
	run.depth = 0;
	run.rows = rows;
	run.changed = true;
	run.ended = fde->start >= fde->end;
	for (;;) {
		run_common(&run);
		if (!run.in.left || run.ended)
			break;
		if (step(&run) < 0)
			return -EBADMSG;
	}
	if (!run.ended && run.changed)
		write_row(&run);
	return 0;
}
