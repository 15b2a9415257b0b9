/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unwinding of 32-bit programs: the rows of their call frame information, and the steps by them. */
#include "test.h"

#include "bpf/unwind_step.h"
#include "unwind/internal/cfi.h"
#include "unwind/internal/cfi_program.h"
#include "unwind/internal/unwind_rows.h"

#include <dwarf.h>

enum { FUNCTION = 0x8049000, SIZE = 64 };

/* --- rows --- */

static void put_le32(uint8_t *out, uint32_t value)
{
	out[0] = (uint8_t)value;
	out[1] = (uint8_t)(value >> 8);
	out[2] = (uint8_t)(value >> 16);
	out[3] = (uint8_t)(value >> 24);
}

/* Writes the .eh_frame of the function: a CIE with @letters and a program of @cie_bytes, an FDE
 * with a program of @bytes. Returns its size. */
static size_t write_frame(uint8_t *out, const char *letters, const uint8_t *cie, size_t cie_bytes,
			  const uint8_t *fde, size_t bytes)
{
	size_t at = 9 + strlen(letters) + 1, start;

	memset(out, 0, 256);
	out[8] = 1;
	memcpy(out + 9, letters, strlen(letters));
	out[at++] = 1;	  /* code alignment */
	out[at++] = 0x7c; /* data alignment: -4 */
	out[at++] = 8;	  /* the return address: eip */
	at += !!*letters; /* no augmentation data */
	memcpy(out + at, cie, cie_bytes);
	at += cie_bytes;
	put_le32(out, (uint32_t)at - 4);
	start = at;
	put_le32(out + start + 4, (uint32_t)start + 4);
	put_le32(out + start + 8, FUNCTION);
	put_le32(out + start + 12, SIZE);
	at = start + 16 + !!*letters;
	memcpy(out + at, fde, bytes);
	at += bytes;
	put_le32(out + start, (uint32_t)(at - start) - 4);
	return at;
}

/* Stores the rule for the function's last byte. */
static void last_rule(const char *letters, const uint8_t *fde, size_t bytes,
		      struct unwind_rule *ret)
{
	/* CFA = esp + 4, eip at CFA - 4 */
	static const uint8_t usual[] = { DW_CFA_def_cfa, 4, 4, DW_CFA_offset | 8, 1 };
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	struct cfi cfi = { .machine = UNWIND_I386 };
	struct unwind_rows rows;
	uint8_t section[256];
	struct cfi_fde f = { 0 };
	size_t next, count;

	cfi.bytes =
		span_of(section, write_frame(section, letters, usual, sizeof(usual), fde, bytes));
	CHECK_EQ(cfi_read(&cfi, 0, &f, &next), 0);
	CHECK_EQ(cfi_read(&cfi, next, &f, &next), 1);
	CHECK_EQ(f.start, FUNCTION);
	CHECK_EQ(f.end, FUNCTION + SIZE);
	unwind_rows_init(&rows, rules, FUNCTION, 1, 16);
	rows.ra_word = (uint8_t)unwind_word(UNWIND_I386);
	unwind_rows_limit(&rows, SIZE);
	CHECK_EQ(cfi_program_run(&f, UNWIND_I386, &rows), 0);
	count = unwind_rows_finish(&rows);
	*ret = unwind_rules_all(rules, &next)[rows.rows[count - 1].rule];
	free(rows.pages);
	free(rows.rows);
	cfi_done(&cfi);
}

static void rules_count_in_words_of_four_bytes(void)
{
	static const uint8_t plain[] = { DW_CFA_nop };
	static const uint8_t framed[] = { DW_CFA_advance_loc | 1,
					  DW_CFA_def_cfa_offset,
					  8,
					  DW_CFA_offset | 5,
					  2,
					  DW_CFA_offset | 3,
					  3,
					  DW_CFA_advance_loc | 2,
					  DW_CFA_def_cfa_register,
					  5 };
	static const uint8_t realigned[] = {
		DW_CFA_def_cfa_expression, 3, DW_OP_breg5, 0x7c,	DW_OP_deref,
		DW_CFA_expression,	   5, 2,	   DW_OP_breg5, 0
	};
	static const uint8_t plt[] = { DW_CFA_def_cfa_expression,
				       11,
				       DW_OP_breg4,
				       4,
				       DW_OP_breg8,
				       0,
				       DW_OP_lit15,
				       DW_OP_and,
				       DW_OP_lit11,
				       DW_OP_ge,
				       DW_OP_lit2,
				       DW_OP_shl,
				       DW_OP_plus };
	struct unwind_rule r;

	last_rule("", plain, sizeof(plain), &r);
	CHECK_EQ(r.cfa, UNWIND_CFA_REG);
	CHECK_EQ(r.base, UNWIND_BASE_SP);
	CHECK_EQ(r.cfa_offset, 4);
	CHECK_EQ(r.ra, -1);
	CHECK_EQ(UNWIND_SAVE_RA(r.saves), UNWIND_AT_CFA);

	last_rule("z", framed, sizeof(framed), &r);
	CHECK_EQ(r.base, UNWIND_BASE_FP);
	CHECK_EQ(r.cfa_offset, 8);
	CHECK_EQ(r.fp, -2);
	CHECK_EQ(r.bx, -3);

	last_rule("", realigned, sizeof(realigned), &r);
	CHECK_EQ(r.cfa, UNWIND_CFA_DEREF);
	CHECK_EQ(r.base, UNWIND_BASE_FP);
	CHECK_EQ(r.cfa_offset, -4);
	CHECK_EQ(UNWIND_SAVE_FP(r.saves), UNWIND_AT_FP);

	last_rule("", plt, sizeof(plt), &r);
	CHECK_EQ(r.cfa, UNWIND_CFA_PLT);
	CHECK_EQ(r.cfa_offset, 4);
	CHECK_EQ(r.cfa_add, 11);
}

/* After an epilogue, glibc's memcpy() lacks the offset that it had before. */
static void a_return_address_below_the_stack_is_none(void)
{
	static const uint8_t lowest[] = { DW_CFA_def_cfa_offset, 4 };
	static const uint8_t below[] = { DW_CFA_def_cfa_offset, 0 };
	static const uint8_t pushed[] = { DW_CFA_def_cfa_offset, 4, DW_CFA_offset | 8, 2 };
	static const uint8_t framed[] = { DW_CFA_def_cfa, 5, 0 };
	struct unwind_rule r;

	last_rule("", lowest, sizeof(lowest), &r);
	CHECK_EQ(r.cfa, UNWIND_CFA_REG);
	last_rule("", below, sizeof(below), &r);
	CHECK_EQ(r.cfa, UNWIND_CFA_NONE);
	CHECK_EQ(r.base, UNWIND_WHY_DAMAGED);
	last_rule("", pushed, sizeof(pushed), &r);
	CHECK_EQ(r.cfa, UNWIND_CFA_NONE);
	/* Where the frame pointer is, nobody knows here. */
	last_rule("", framed, sizeof(framed), &r);
	CHECK_EQ(r.cfa, UNWIND_CFA_REG);
}

/* The vdso's: CFA = [esp + where esp is in struct sigcontext_32]. */
static void the_frames_of_signals_are_known(void)
{
	static const uint8_t program[] = { DW_CFA_def_cfa_expression, 3, DW_OP_breg4, 32,
					   DW_OP_deref };
	struct unwind_rule r;

	last_rule("zS", program, sizeof(program), &r);
	CHECK_EQ(r.cfa, UNWIND_CFA_SIGNAL);
	CHECK_EQ(r.cfa_offset, 4);
}

/* --- steps --- */

enum { STACK = 0xffffc000, WORDS = 128 };

struct world {
	uint32_t words[WORDS];
	uint64_t code_at, code;
};

static int read_word(void *data, __u64 address, __u64 *ret)
{
	const struct world *w = data;

	if (address < STACK || address & 3 || (address - STACK) / 4 >= WORDS)
		return CHAIN_END_UNREADABLE;
	*ret = w->words[(address - STACK) / 4];
	return CHAIN_GOES_ON;
}

static int read_code(void *data, __u64 address, __u64 *ret)
{
	const struct world *w = data;

	*ret = address == w->code_at ? w->code : 0;
	return CHAIN_GOES_ON;
}

static int read_reg(void *data, __u32 reg, __u64 *ret)
{
	(void)data;
	*ret = STACK + reg * 4;
	return CHAIN_GOES_ON;
}

/* Each word of the stack is the address of the next but one, or of code. */
static void fill(struct world *w)
{
	uint32_t i;

	for (i = 0; i < WORDS; i++)
		w->words[i] = i % 2 ? 0x8049000 + i * 4 : (uint32_t)STACK + 8 + i * 4;
}

static void code_without_description_is_left_by_its_bytes(void)
{
	static const struct {
		uint64_t code;
		int64_t code_at; /* relative to the PC */
		bool exact;
		uint32_t pc, sp, fp; /* of the caller, in bytes from the stack's start */
	} cases[] = {
		/* By the frame pointer, which is at 16. */
		{ 0x9090909090909090, 0, false, 20, 24, 16 },
		/* sigreturn(2): its context is above the number of the signal. */
		{ 0x80cd00000077b858, 0, false, 4 + 56, 4 + 28, 4 + 24 },
		{ 0x80cd00000077b858, -8, true, 56, 28, 24 },
		/* rt_sigreturn(2) */
		{ 0x9080cd000000adb8, 0, false, 160 + 56, 160 + 28, 160 + 24 },
		{ 0x80cd000000adb890, -8, true, 160 + 56, 160 + 28, 160 + 24 },
		/* The end of __kernel_vsyscall. */
		{ 0x90909090c3595a5d, 0, true, 12, 16, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world w = { .code = cases[i].code };
		struct unwind_frame f = { .pc = 0x804a000, .sp = STACK };
		struct unwind_rule rule = { .cfa = UNWIND_CFA_NONE };

		printf("# case %zu\n", i);
		fill(&w);
		f.exact = f.first = cases[i].exact;
		f.fp.value = STACK + 16;
		w.code_at = f.pc + (uint64_t)cases[i].code_at;
		unwind_guess(&f, UNWIND_I386, read_word, read_code, &w, &rule);
		CHECK_EQ(unwind_apply(&f, &rule, UNWIND_I386, read_word, read_reg, &w),
			 CHAIN_GOES_ON);
		CHECK_EQ(f.pc, w.words[cases[i].pc / 4]);
		CHECK_EQ(f.fp.value, STACK + cases[i].fp);
		CHECK_EQ(f.sp, rule.cfa == UNWIND_CFA_SIGNAL ? w.words[cases[i].sp / 4]
							     : STACK + cases[i].sp);
	}
}

TESTS(T(rules_count_in_words_of_four_bytes), T(a_return_address_below_the_stack_is_none),
      T(the_frames_of_signals_are_known), T(code_without_description_is_left_by_its_bytes))
