/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "unwind/unwind_chain.h"

#include <errno.h>

enum { STACK = 0x7000, WORDS = 128 };

/* Memory at STACK, registers by DWARF number, and code at one address. */
struct world {
	uint64_t words[WORDS];
	uint64_t regs[32];
	uint64_t code_at, code;
};

static int read_word(void *data, __u64 address, __u64 *ret)
{
	const struct world *w = data;

	if (address < STACK || address % 8 || (address - STACK) / 8 >= WORDS)
		return CHAIN_END_UNREADABLE;
	*ret = w->words[(address - STACK) / 8];
	return CHAIN_GOES_ON;
}

static int read_code(void *data, __u64 address, __u64 *ret)
{
	const struct world *w = data;

	if (!w->code_at)
		return CHAIN_END_UNREADABLE;
	*ret = address == w->code_at ? w->code : 0;
	return CHAIN_GOES_ON;
}

static int read_reg(void *data, __u32 reg, __u64 *ret)
{
	const struct world *w = data;

	*ret = w->regs[reg];
	return CHAIN_GOES_ON;
}

static uint64_t *at(struct world *w, uint64_t address)
{
	return &w->words[(address - STACK) / 8];
}

static struct unwind_frame frame_at(uint64_t sp)
{
	return (struct unwind_frame){ .pc = 0x400123, .sp = sp, .exact = 1, .first = 1 };
}

static int apply(struct unwind_frame *f, struct unwind_rule rule, struct world *w)
{
	return unwind_apply(f, &rule, UNWIND_X86_64, read_word, read_reg, w);
}

/* The value that a rule counting from fp would see. */
static uint64_t fp_of(const struct unwind_frame *f, struct world *w)
{
	__u64 value = 0;

	CHECK_EQ(unwind_reg_value(&f->fp, read_word, w, &value), CHAIN_GOES_ON);
	return value;
}

/* CFA = base + offset, the return address below it. */
static struct unwind_rule plain(uint8_t base, int32_t offset)
{
	return (struct unwind_rule){
		.cfa = UNWIND_CFA_REG,
		.base = base,
		.saves = UNWIND_SAVES(UNWIND_SAME, UNWIND_SAME, UNWIND_AT_CFA),
		.cfa_offset = offset,
		.ra = -1,
	};
}

static void a_frame_counted_from_sp_has_a_caller(void)
{
	struct world w = { .words = { 0 } };
	struct unwind_frame f = frame_at(0x7000);

	*at(&w, 0x7018) = 0x401000;
	CHECK_EQ(apply(&f, plain(UNWIND_BASE_SP, 32), &w), CHAIN_GOES_ON);
	CHECK_EQ(f.pc, 0x401000);
	CHECK_EQ(f.sp, 0x7020);
	CHECK(!f.exact);
	CHECK_EQ(unwind_lookup_pc(&f), 0x400fff);
}

static void a_saved_fp_is_read_when_it_is_needed(void)
{
	struct world w = { .words = { 0 } };
	struct unwind_frame f = frame_at(0x7000);
	struct unwind_rule rule = plain(UNWIND_BASE_SP, 32);

	rule.saves = UNWIND_SAVES(UNWIND_AT_CFA, UNWIND_SAME, UNWIND_AT_CFA);
	rule.fp = -2;
	*at(&w, 0x7018) = 0x401000;
	*at(&w, 0x7010) = 0x7040;
	*at(&w, 0x7048) = 0x402000;
	CHECK_EQ(apply(&f, rule, &w), CHAIN_GOES_ON);
	CHECK_EQ(fp_of(&f, &w), 0x7040);
	CHECK_EQ(apply(&f, plain(UNWIND_BASE_FP, 16), &w), CHAIN_GOES_ON);
	CHECK_EQ(f.pc, 0x402000);
	CHECK_EQ(f.sp, 0x7050);
}

/* At a ret the rule still says where rbp was saved, which is below sp by now. */
static void what_was_popped_is_in_its_register(void)
{
	struct world w = { .words = { 0 } };
	struct unwind_frame f = frame_at(0x7010);
	struct unwind_rule rule = plain(UNWIND_BASE_SP, 8);

	f.fp.value = 0x7040;
	rule.saves = UNWIND_SAVES(UNWIND_AT_CFA, UNWIND_SAME, UNWIND_AT_CFA);
	rule.fp = -2;
	*at(&w, 0x7008) = 0xdead;
	*at(&w, 0x7010) = 0x401000;
	CHECK_EQ(apply(&f, rule, &w), CHAIN_GOES_ON);
	CHECK_EQ(fp_of(&f, &w), 0x7040);
}

/* After clone(2) the stack of the child has the function that it will call on top. */
static void only_the_parent_of_a_clone_has_a_caller(void)
{
	static const struct {
		uint64_t result, first;
		int stop;
	} cases[] = {
		{ 4711, 1, CHAIN_GOES_ON },
		{ (uint64_t)-38, 1, CHAIN_GOES_ON }, /* still in the kernel */
		{ 0, 1, CHAIN_END_COMPLETE },
		{ 0, 0, CHAIN_GOES_ON }, /* register 0 is not this frame's */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world w = { .regs = { cases[i].result } };
		struct unwind_rule rule = plain(UNWIND_BASE_SP, 8);
		struct unwind_frame f = frame_at(0x7000);

		printf("# case %zu\n", i);
		rule.cfa = UNWIND_CFA_CHILD;
		f.first = cases[i].first;
		*at(&w, 0x7000) = 0x401000;
		CHECK_EQ(apply(&f, rule, &w), cases[i].stop);
		CHECK_EQ(f.pc, cases[i].stop == CHAIN_GOES_ON ? 0x401000 : 0x400123);
	}
}

static void a_realigned_frame_is_found_through_its_fp(void)
{
	struct world w = { .words = { 0 } };
	struct unwind_frame f = frame_at(0x7000);
	struct unwind_rule rule = plain(UNWIND_BASE_FP, -8);

	rule.cfa = UNWIND_CFA_DEREF;
	rule.saves = UNWIND_SAVES(UNWIND_AT_FP, UNWIND_SAME, UNWIND_AT_CFA);
	f.fp.value = 0x7040;
	*at(&w, 0x7038) = 0x7068; /* the CFA */
	*at(&w, 0x7040) = 0x7080; /* the caller's fp */
	*at(&w, 0x7060) = 0x401000;
	CHECK_EQ(apply(&f, rule, &w), CHAIN_GOES_ON);
	CHECK_EQ(f.pc, 0x401000);
	CHECK_EQ(f.sp, 0x7068);
	CHECK_EQ(fp_of(&f, &w), 0x7080);
}

static void a_plt_slot_pushes_in_its_middle(void)
{
	struct unwind_rule rule = plain(UNWIND_BASE_SP, 8);
	uint64_t pc;

	rule.cfa = UNWIND_CFA_PLT;
	rule.cfa_add = 11;
	for (pc = 0x400120; pc < 0x400130; pc++) {
		struct world w = { .words = { 0 } };
		struct unwind_frame f = frame_at(0x7000);

		f.pc = pc;
		*at(&w, 0x7000) = *at(&w, 0x7008) = 0x401000;
		CHECK_EQ(apply(&f, rule, &w), CHAIN_GOES_ON);
		CHECK_EQ(f.sp, (pc & 15) >= 11 ? 0x7010 : 0x7008);
	}
}

static void other_registers_are_known_in_the_interrupted_frame_only(void)
{
	struct world w = { .words = { 0 } };
	struct unwind_frame f = frame_at(0x7000);
	struct unwind_rule rule = plain(UNWIND_BASE_OTHER, 8);

	rule.reg = 10;
	w.regs[10] = 0x7020;
	*at(&w, 0x7020) = 0x401000;
	CHECK_EQ(apply(&f, rule, &w), CHAIN_GOES_ON);
	CHECK_EQ(f.sp, 0x7028);
	CHECK_EQ(apply(&f, rule, &w), CHAIN_END_NO_RULE);
}

static void an_index_leads_to_the_cfa(void)
{
	struct world w = { .words = { 0 } };
	struct unwind_frame f = frame_at(0x7000);
	struct unwind_rule rule = plain(UNWIND_BASE_OTHER, 8);

	rule.cfa = UNWIND_CFA_INDEX;
	rule.cfa_add = 8;
	rule.reg = 9;
	w.regs[9] = 4;
	*at(&w, 0x7028) = 0x7050;
	*at(&w, 0x7050) = 0x401000;
	CHECK_EQ(apply(&f, rule, &w), CHAIN_GOES_ON);
	CHECK_EQ(f.sp, 0x7058);
	CHECK_EQ(f.pc, 0x401000);
}

static void a_signal_frame_gives_all_back(void)
{
	static const struct {
		enum unwind_machine machine;
		uint64_t fp, sp, pc;
	} cases[] = {
		{ UNWIND_X86_64, 120, 160, 168 },
		{ UNWIND_AARCH64, 544, 560, 568 },
	};
	const struct unwind_rule rule = { .cfa = UNWIND_CFA_SIGNAL };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world w = { .words = { 0 } };
		struct unwind_frame f = frame_at(STACK);

		f.exact = f.first = 0;
		*at(&w, STACK + cases[i].fp) = 0x7300;
		*at(&w, STACK + cases[i].sp) = 0x5000; /* another stack, lower */
		*at(&w, STACK + cases[i].pc) = 0x404040;
		CHECK_EQ(unwind_apply(&f, &rule, cases[i].machine, read_word, read_reg, &w),
			 CHAIN_GOES_ON);
		CHECK_EQ(f.pc, 0x404040);
		CHECK_EQ(f.sp, 0x5000);
		CHECK_EQ(fp_of(&f, &w), 0x7300);
		CHECK_EQ(unwind_lookup_pc(&f), 0x404040);
	}
}

static void aarch64_leaves_return_by_lr_and_addresses_lose_their_signature(void)
{
	struct world w = { .words = { 0 } };
	struct unwind_frame f = frame_at(0x7000);
	struct unwind_rule leaf = plain(UNWIND_BASE_SP, 0), frame = plain(UNWIND_BASE_SP, 32);

	leaf.saves = 0;
	leaf.ra = 30;
	f.lr = 0x401000;
	CHECK_EQ(unwind_apply(&f, &leaf, UNWIND_AARCH64, read_word, read_reg, &w), CHAIN_GOES_ON);
	CHECK_EQ(f.pc, 0x401000);
	CHECK_EQ(f.sp, 0x7000);
	*at(&w, 0x7018) = 0x2a000000402000;
	CHECK_EQ(unwind_apply(&f, &frame, UNWIND_AARCH64, read_word, read_reg, &w), CHAIN_GOES_ON);
	CHECK_EQ(f.pc, 0x402000);
	/* Its caller has no leaf's rule: lr is long overwritten. */
	CHECK_EQ(unwind_apply(&f, &leaf, UNWIND_AARCH64, read_word, read_reg, &w),
		 CHAIN_END_NO_RULE);
}

/* Images by their addresses: code that nothing describes, an image without table, no code. */
static enum chain_end find_image(void *data, uint64_t address, const struct unwind_table **ret,
				 uint64_t *ret_pc)
{
	(void)data, (void)ret, (void)ret_pc;
	if (address < 0x400000)
		return CHAIN_END_NO_MAPPING;
	return address < 0x500000 ? CHAIN_END_NO_RULE : CHAIN_END_NO_TABLE;
}

static struct unwind_from from_world(const struct unwind_rules *rules, struct world *w)
{
	return (struct unwind_from){ UNWIND_X86_64, rules,    find_image, read_word,
				     read_code,	    read_reg, w };
}

static void code_without_rules_is_left_by_its_frame_pointer(void)
{
	static const uint64_t pcs[] = { 0x400123, 0x500123 };
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pcs); i++) {
		struct world w = { .words = { 0 } };
		const struct unwind_from from = from_world(rules, &w);
		struct unwind_frame f = frame_at(0x7000);

		f.pc = pcs[i];
		f.fp.value = 0x7020;
		*at(&w, 0x7020) = 0x7040;
		*at(&w, 0x7028) = 0x501000;
		CHECK_EQ(unwind_step(&f, &from), CHAIN_GOES_ON);
		CHECK_EQ(f.pc, 0x501000);
		CHECK_EQ(f.sp, 0x7030);
		CHECK_EQ(fp_of(&f, &w), 0x7040);
	}
}

static void a_frame_pointer_that_leads_nowhere_ends_the_chain(void)
{
	static const struct {
		uint64_t pc, fp, ra;
		enum chain_end stop;
	} cases[] = {
		{ 0x400123, 0x7020, 0x12, CHAIN_END_NO_RULE },	    /* no address */
		{ 0x400123, 0x7020, 0x300000, CHAIN_END_NO_RULE },  /* no code */
		{ 0x400123, 0x6ff8, 0x401000, CHAIN_END_NO_RULE },  /* below the stack */
		{ 0x400123, 0x7021, 0x401000, CHAIN_END_NO_RULE },  /* not aligned */
		{ 0x400123, 0x10000, 0x401000, CHAIN_END_NO_RULE }, /* not readable */
		{ 0x500123, 0x7020, 0x300000, CHAIN_END_NO_TABLE },
		{ 0x500123, 0, 0x401000, CHAIN_END_NO_TABLE },
	};
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world w = { .words = { 0 } };
		const struct unwind_from from = from_world(rules, &w);
		struct unwind_frame f = frame_at(0x7000);

		printf("# case %zu\n", i);
		f.pc = cases[i].pc;
		f.fp.value = cases[i].fp;
		*at(&w, 0x7028) = cases[i].ra;
		CHECK_EQ(unwind_step(&f, &from), cases[i].stop);
	}
}

/* The code that is returned to says where the caller is; fp leads elsewhere. */
static void known_code_is_left_by_its_bytes(void)
{
	static const struct {
		uint64_t code;
		int64_t code_at; /* relative to the PC */
		bool exact, arm;
		uint64_t pc, sp, fp;
	} cases[] = {
		/* add $8, %rsp; ret; int3... */
		{ 0xccccccc308c48348, 0, false, false, 0x401008, 0x7010, 0x7020 },
		{ 0xccccccc308c48348, 0, true, false, 0x401028, 0x7030, 0x7040 },
		{ 0xccccccc318c48348, 0, false, false, 0x401028, 0x7030, 0x7040 },
		{ 0x0f0000000fc0c748, 0, false, false, 0x4010a8, 0x70a0, 0x401078 },
		{ 0x0f0000000fc0c748, -7, true, false, 0x4010a8, 0x70a0, 0x401078 },
		{ 0xd4000001d2801168, 0, false, true, 0x401238, 0x7230, 0x7220 },
		{ 0xd4000001d2801168, -8, true, true, 0x401238, 0x7230, 0x7220 },
		{ 0xccccccc308c48348, 0, false, true, 0x401028, 0x7030, 0x7040 },
	};
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world w = { .code = cases[i].code };
		struct unwind_from from = from_world(rules, &w);
		struct unwind_frame f = frame_at(0x7000);

		printf("# case %zu\n", i);
		from.machine = cases[i].arm ? UNWIND_AARCH64 : UNWIND_X86_64;
		f.exact = f.first = cases[i].exact;
		f.fp.value = 0x7020;
		w.code_at = f.pc + (uint64_t)cases[i].code_at;
		/* Each word is the address of one of the next, or of code. */
		for (n = 0; n < WORDS; n++)
			w.words[n] = n % 2 ? 0x401000 + n * 8 : 0x7000 + n * 8;
		*at(&w, 0x7020) = 0x7040;
		CHECK_EQ(unwind_step(&f, &from), CHAIN_GOES_ON);
		CHECK_EQ(f.pc, cases[i].pc);
		CHECK_EQ(f.sp, cases[i].sp);
		CHECK_EQ(fp_of(&f, &w), cases[i].fp);
	}
}

/* Only the call that led to the interrupted code says that the stack's top is a return address. */
static void code_that_was_just_called_returns_by_the_top_of_the_stack(void)
{
	enum { PC = 0x400123, RA = 0x402000 };
	static const struct {
		uint8_t opcode;
		int32_t to; /* of the call, relative to the return address */
		bool first;
		uint64_t pc; /* of the caller; otherwise that by the frame pointer */
	} cases[] = {
		{ 0xe8, PC - RA, true, RA },
		{ 0xe8, PC - 0xfff - RA, true, RA },
		{ 0xe8, PC - 0x1000 - RA, true, 0x403000 },
		{ 0xe8, PC + 1 - RA, true, 0x403000 },
		{ 0xe9, PC - RA, true, 0x403000 },
		{ 0xe8, PC - RA, false, 0x403000 },
	};
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world w = { .code_at = RA - 8 };
		const struct unwind_from from = from_world(rules, &w);
		struct unwind_frame f = frame_at(0x7000);

		printf("# case %zu\n", i);
		f.first = cases[i].first;
		f.fp.value = 0x7020;
		w.code = 0x909090 | (uint64_t)cases[i].opcode << 24 |
			 (uint64_t)(uint32_t)cases[i].to << 32;
		*at(&w, 0x7000) = RA;
		*at(&w, 0x7020) = 0x7040;
		*at(&w, 0x7028) = 0x403000;
		CHECK_EQ(unwind_step(&f, &from), CHAIN_GOES_ON);
		CHECK_EQ(f.pc, cases[i].pc);
		CHECK_EQ(f.sp, cases[i].pc == RA ? 0x7008 : 0x7030);
		CHECK_EQ(fp_of(&f, &w), cases[i].pc == RA ? 0x7020 : 0x7040);
	}
}

/* Of code that makes no frame itself, the frame pointer is a caller's, and leads to the caller's
 * caller. What is known otherwise is known there, too. */
static void code_that_makes_no_frame_is_not_left_by_its_frame_pointer(void)
{
	enum { PC = 0x400123, RA = 0x402000 };
	static const struct {
		uint64_t code_at, code;
		bool exact;
		uint64_t pc; /* of the caller; 0: there is none */
	} cases[] = {
		{ RA - 8, 0, true, 0 },
		{ RA - 8, 0, false, 0 },
		{ RA - 8, 0xe8909090 | (uint64_t)(uint32_t)(PC - RA) << 32, true, RA },
		{ PC, 0xccccccc308c48348, false, 0x403000 },
		{ PC - 7, 0x0f0000000fc0c748, true, 0x404000 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct unwind_rule rule = { .base = UNWIND_WHY_NO_FRAME };
		struct world w = { .code_at = cases[i].code_at, .code = cases[i].code };
		struct unwind_frame f = frame_at(0x7000);

		printf("# case %zu\n", i);
		f.exact = f.first = cases[i].exact;
		f.fp.value = 0x7020;
		*at(&w, 0x7000) = RA;
		*at(&w, 0x7008) = 0x403000;
		*at(&w, 0x7020) = 0x7040;
		*at(&w, 0x7028) = 0x405000;
		*at(&w, 0x70a8) = 0x404000;
		unwind_guess(&f, UNWIND_X86_64, read_word, read_code, &w, &rule);
		CHECK_EQ(apply(&f, rule, &w), cases[i].pc ? CHAIN_GOES_ON : CHAIN_END_NO_RULE);
		CHECK_EQ(f.pc, cases[i].pc ? cases[i].pc : PC);
	}
}

static void a_hole_differs_from_other_rules(void)
{
	const struct unwind_rule hole = { .cfa = UNWIND_CFA_NONE },
				 no_frame = { .base = UNWIND_WHY_NO_FRAME },
				 damaged = { .base = UNWIND_WHY_DAMAGED },
				 usable = plain(UNWIND_BASE_SP, 8);

	CHECK(unwind_is_hole(&hole));
	CHECK(unwind_is_hole(&no_frame));
	CHECK(!unwind_is_hole(&damaged));
	CHECK(!unwind_is_hole(&usable));
}

static void every_end_has_its_reason(void)
{
	static const struct {
		struct unwind_rule rule;
		uint64_t ra;
		int stop;
	} cases[] = {
		{ { .cfa = UNWIND_CFA_END }, 1, CHAIN_END_COMPLETE },
		{ { .base = UNWIND_WHY_CFA }, 0x401000, CHAIN_END_NO_RULE },
		{ { .base = UNWIND_WHY_FULL }, 0x401000, CHAIN_END_NO_RULE },
		{ { .cfa = UNWIND_CFA_REG, .saves = 16, .cfa_offset = 8, .ra = -1 },
		  0,
		  CHAIN_END_NO_MAPPING },
		{ { .cfa = UNWIND_CFA_REG, .saves = 16, .cfa_offset = 0, .ra = 0 },
		  0x401000,
		  CHAIN_END_NO_PROGRESS },
		{ { .cfa = UNWIND_CFA_REG, .saves = 16, .cfa_offset = 1 << 20, .ra = -1 },
		  0x401000,
		  CHAIN_END_UNREADABLE },
		{ { .cfa = UNWIND_CFA_REG, .saves = 16, .cfa_offset = -64, .ra = 8 },
		  0x401000,
		  CHAIN_END_NO_PROGRESS },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world w = { .words = { 0 } };
		struct unwind_frame f = frame_at(0x7000);

		printf("# case %zu\n", i);
		f.exact = 0;
		*at(&w, 0x7000) = cases[i].ra;
		CHECK_EQ(apply(&f, cases[i].rule, &w), cases[i].stop);
	}
}

static void a_program_that_jumped_to_0_has_no_mapping_there(void)
{
	struct world w = { .words = { 0 } };
	struct unwind_frame f = frame_at(STACK);

	f.exact = f.first = 0;
	CHECK_EQ(apply(&f, (struct unwind_rule){ .cfa = UNWIND_CFA_SIGNAL }, &w),
		 CHAIN_END_NO_MAPPING);
}

/* The byte before a caller's address is in the caller, even if a signal interrupted the first. */
static void an_address_in_a_chain_follows_the_code_that_was_left(void)
{
	static const struct {
		uint64_t exact, first;
		int is_trampoline;
		uint64_t address;
	} cases[] = {
		{ .exact = 1, .first = 1, .address = 0x400123 },
		{ .exact = 1, .first = 1, .is_trampoline = 1, .address = 0x400123 },
		{ .address = 0x400123 },
		{ .exact = 1, .address = 0x400124 },
		{ .is_trampoline = 1, .address = 0x400124 },
		{ .exact = 1, .is_trampoline = 1, .address = 0x400124 },
	};
	struct unwind_frame f = frame_at(0x7000);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		printf("# case %zu\n", i);
		f.exact = cases[i].exact;
		f.first = cases[i].first;
		CHECK_EQ(unwind_chain_address(&f, cases[i].is_trampoline), cases[i].address);
	}
}

/* Another symbol may begin right after a system call. The registers say that there was one, but not
 * whether a new process goes on. */
static void a_thread_in_a_system_call_is_where_it_made_it(void)
{
	static const struct {
		enum unwind_machine machine;
		int64_t result;
		uint64_t next;
		bool may_be_new;
		uint64_t pc;
	} cases[] = {
		{ UNWIND_X86_64, -ENOSYS, 0, true, 0x400121 },
		{ UNWIND_X86_64, -ENOSYS, 0x400123, false, 0x400121 },
		{ UNWIND_X86_64, 0, 0, false, 0x400123 },
		{ UNWIND_X86_64, 0, 0x400123, false, 0x400121 },
		{ UNWIND_X86_64, 0, 0x400123, true, 0x400123 },
		{ UNWIND_X86_64, 7, 0x400123, true, 0x400121 },
		{ UNWIND_X86_64, -EINTR, 0x400123, false, 0x400121 },
		{ UNWIND_X86_64, -EINTR, 0x400125, false, 0x400123 },
		{ UNWIND_X86_64, (uint32_t)-ENOSYS, 0, false, 0x400123 },
		{ UNWIND_AARCH64, -ENOSYS, 0x400123, false, 0x400123 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct unwind_frame f = frame_at(0x7000);

		printf("# case %zu\n", i);
		unwind_to_system_call(&f, cases[i].machine, (uint64_t)cases[i].result,
				      cases[i].next, cases[i].may_be_new);
		CHECK_EQ(f.pc, cases[i].pc);
		CHECK_EQ(unwind_lookup_pc(&f), cases[i].pc);
	}
}

/* The kernel works on the stack of the caller, and nothing is at the PC. */
static void a_thread_in_a_vsyscall_is_where_it_called_it(void)
{
	static const struct {
		enum unwind_machine machine;
		uint64_t pc, sp, expected_pc, expected_sp;
	} cases[] = {
		{ UNWIND_X86_64, 0xffffffffff600000, 0x7000, 0x400500, 0x7008 },
		{ UNWIND_X86_64, 0xffffffffff600800, 0x7000, 0x400500, 0x7008 },
		{ UNWIND_X86_64, 0xffffffffff601000, 0x7000, 0xffffffffff601000, 0x7000 },
		{ UNWIND_X86_64, 0xffffffffff600400, 0x6000, 0xffffffffff600400, 0x6000 },
		{ UNWIND_AARCH64, 0xffffffffff600400, 0x7000, 0xffffffffff600400, 0x7000 },
		{ UNWIND_X86_64, 0x400123, 0x7000, 0x400123, 0x7000 },
	};
	struct world w = { .words = { 0x400501 } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct unwind_frame f = frame_at(cases[i].sp);

		printf("# case %zu\n", i);
		f.pc = cases[i].pc;
		unwind_to_vsyscall(&f, cases[i].machine, read_word, &w);
		CHECK_EQ(f.pc, cases[i].expected_pc);
		CHECK_EQ(f.sp, cases[i].expected_sp);
		CHECK_EQ(f.first, 1);
	}
}

/* An endless chain: every frame returns to itself. */
static void a_chain_ends_at_its_depth(void)
{
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	struct world w = { .words = { 0 } };
	struct unwind_frame f = frame_at(0x7000);
	const struct unwind_from from = from_world(rules, &w);
	uint64_t pcs[8];
	size_t i, count;

	for (i = 0; i + 2 < WORDS; i += 2) {
		w.words[i] = STACK + (i + 2) * 8;
		w.words[i + 1] = 0x401000 + i;
	}
	f.fp.value = 0x7000;
	CHECK_EQ(unwind_chain(&f, &from, pcs, ARRAY_SIZE(pcs), &count), CHAIN_END_DEPTH);
	CHECK_EQ(count, 8);
	CHECK_EQ(pcs[0], 0x400123);
	CHECK_EQ(pcs[7], 0x40100c);
}

TESTS(T(a_frame_counted_from_sp_has_a_caller), T(a_saved_fp_is_read_when_it_is_needed),
      T(what_was_popped_is_in_its_register), T(only_the_parent_of_a_clone_has_a_caller),
      T(a_realigned_frame_is_found_through_its_fp), T(a_plt_slot_pushes_in_its_middle),
      T(other_registers_are_known_in_the_interrupted_frame_only), T(an_index_leads_to_the_cfa),
      T(a_signal_frame_gives_all_back),
      T(aarch64_leaves_return_by_lr_and_addresses_lose_their_signature),
      T(code_without_rules_is_left_by_its_frame_pointer),
      T(a_frame_pointer_that_leads_nowhere_ends_the_chain), T(known_code_is_left_by_its_bytes),
      T(code_that_was_just_called_returns_by_the_top_of_the_stack),
      T(code_that_makes_no_frame_is_not_left_by_its_frame_pointer),
      T(a_hole_differs_from_other_rules), T(every_end_has_its_reason),
      T(a_program_that_jumped_to_0_has_no_mapping_there),
      T(an_address_in_a_chain_follows_the_code_that_was_left),
      T(a_thread_in_a_vsyscall_is_where_it_called_it),
      T(a_thread_in_a_system_call_is_where_it_made_it), T(a_chain_ends_at_its_depth))
