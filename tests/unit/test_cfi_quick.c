/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/unwind/internal/cfi_quick.c: the fast interpreter gives the rows of cfi_program.c alone. */
#include "test.h"

#include "base/strbuf.h"
#include "elf/elffile.h"
#include "unwind/internal/cfi_program.h"
#include "unwind/internal/unwind_rows.h"
#include "unwind/unwind_functions.h"

#include <dwarf.h>
#include <inttypes.h>

enum { FUNCTION = 0x1000, PAGES = 3 };

/* Runs @fde with @quick or without it; the caller frees pages and rows. */
static int run(const struct cfi_fde *fde, enum unwind_machine machine, bool quick,
	       struct unwind_rows *rows, struct unwind_rules *rules)
{
	struct cfi_cie cie = *fde->cie;
	struct cfi_fde copy = *fde;

	cie.is_quick = cie.is_quick && quick;
	copy.cie = &cie;
	unwind_rows_init(rows, rules, fde->start, PAGES, 16);
	unwind_rows_limit(rows, MIN(fde->end - fde->start, (uint64_t)PAGES << UNWIND_PAGE_SHIFT));
	return cfi_program_run(&copy, machine, rows);
}

/* Whether both interpreters agree on the result and every row; *@ret_rows grows by their number. */
static bool both_agree(const struct cfi_fde *fde, enum unwind_machine machine, size_t *ret_rows)
{
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	struct unwind_rows fast, slow;
	int fast_result = run(fde, machine, true, &fast, rules);
	int slow_result = run(fde, machine, false, &slow, rules);
	size_t count = unwind_rows_finish(&fast);
	bool same = fast_result == slow_result && count == unwind_rows_finish(&slow) &&
		    !memcmp(fast.rows, slow.rows, count * sizeof(*fast.rows)) &&
		    !memcmp(fast.pages, slow.pages, (PAGES + 1) * sizeof(*fast.pages));

	*ret_rows += count;
	free(fast.rows);
	free(fast.pages);
	free(slow.rows);
	free(slow.pages);
	return same;
}

/* xorshift64: the same numbers in every run. */
static unsigned int below(uint64_t *state, unsigned int limit)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (unsigned int)(*state >> 33) % limit;
}

static void put(struct strbuf *b, unsigned int byte)
{
	uint8_t c = (uint8_t)byte;

	strbuf_add(b, &c, 1);
}

/* A register: mostly one that is tracked, on either machine. */
static unsigned int some_register(uint64_t *state)
{
	static const uint8_t tracked[] = { 3, 6, 7, 16, 29, 30, 31 };

	return below(state, 4) ? tracked[below(state, sizeof(tracked))] : below(state, 64);
}

/* An unsigned operand of one to three bytes, mostly a small one. */
static void put_operand(struct strbuf *b, uint64_t *state)
{
	unsigned int i, more = below(state, 8) ? 0 : 1 + below(state, 2);

	for (i = 0; i < more; i++)
		put(b, 0x80 | below(state, 128));
	put(b, below(state, 128));
}

static void put_instruction(struct strbuf *b, uint64_t *state)
{
	static const uint8_t with_register[] = { DW_CFA_def_cfa, DW_CFA_offset_extended,
						 DW_CFA_offset_extended_sf, DW_CFA_register,
						 DW_CFA_val_offset };
	static const uint8_t alone[] = { DW_CFA_remember_state, DW_CFA_restore_state, DW_CFA_nop,
					 DW_CFA_GNU_window_save };
	static const uint8_t one[] = { DW_CFA_def_cfa_register, DW_CFA_restore_extended,
				       DW_CFA_undefined, DW_CFA_same_value };

	switch (below(state, 16)) {
	case 0 ... 3:
		put(b, DW_CFA_advance_loc | below(state, 64));
		break;
	case 4 ... 6:
		put(b, DW_CFA_def_cfa_offset);
		put_operand(b, state);
		break;
	case 7 ... 8:
		put(b, DW_CFA_offset | some_register(state));
		put_operand(b, state);
		break;
	case 9:
		put(b, DW_CFA_restore | some_register(state));
		break;
	case 10 ... 11:
		put(b, alone[below(state, sizeof(alone))]);
		break;
	case 12:
		put(b, DW_CFA_advance_loc1 + below(state, 2));
		put(b, below(state, 256));
		put(b, below(state, 2));
		break;
	case 13:
		put(b, with_register[below(state, sizeof(with_register))]);
		put(b, some_register(state));
		put_operand(b, state);
		break;
	case 14:
		put(b, one[below(state, sizeof(one))]);
		put(b, some_register(state));
		break;
	case 15:
		put(b, below(state, 8) ? DW_CFA_nop : below(state, 256));
		break;
	}
}

static void random_programs_give_the_same_rows(void)
{
	static const uint8_t x86[] = { DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 };
	static const uint8_t arm[] = { DW_CFA_def_cfa, 31, 0 };
	uint64_t state = 88172645463325252u;
	size_t rows = 0;
	int i;

	for (i = 0; i < 20000; i++) {
		_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
		bool is_arm = i & 1;
		enum unwind_machine machine = is_arm ? UNWIND_AARCH64 : UNWIND_X86_64;
		struct cfi_cie cie = { .code_align = is_arm ? 4 : 1,
				       .data_align = below(&state, 8) ? -8 : -4,
				       .ra = is_arm ? 30 : 16,
				       .signal = below(&state, 16) == 0,
				       .program = is_arm ? span_of(arm, sizeof(arm))
							 : span_of(x86, sizeof(x86)) };
		struct cfi_fde fde = { .start = FUNCTION, .cie = &cie };
		unsigned int n = below(&state, 40);

		/* In a section the bytes of the record come before the program. */
		strbuf_fill(&b, 0, 8);
		while (n--)
			put_instruction(&b, &state);
		strbuf_fill(&b, DW_CFA_nop, below(&state, 8));
		fde.program = span_of(b.text + 8, b.length - 8);
		fde.end = FUNCTION + 1 + below(&state, 3000);
		CHECK_EQ(cfi_program_initial(&cie, machine), 0);
		if (!CHECK(both_agree(&fde, machine, &rows)))
			printf("# program %d\n", i);
	}
	CHECK(rows > 60000);
}

/* Every FDE of a file, whatever its machine. */
static void compare_file(const char *path, size_t *functions)
{
	struct elffile *ef = NULL;
	struct unwind_functions f = { .top = UINT32_MAX };
	const struct unwind_rule *rule;
	size_t i, rows = 0;

	if (!CHECK(elffile_open(path, &ef, NULL) == 0))
		return;
	f.ef = ef;
	f.machine = elffile_header(ef)->e_machine == EM_AARCH64 ? UNWIND_AARCH64 : UNWIND_X86_64;
	unwind_functions_find(&f);
	for (i = 0; i < f.count; i++) {
		struct cfi_fde fde;

		if (!unwind_functions_read(&f, i, &fde, &rule) || rule)
			continue;
		++*functions;
		if (!CHECK(both_agree(&fde, f.machine, &rows)))
			printf("# %s: %#" PRIx64 "\n", path, fde.start);
	}
	unwind_functions_done(&f);
	elffile_close(ef);
}

static void functions_of_files_give_the_same_rows(void)
{
	static const char *const names[] = { "aarch64", "x86", "x86-signal", "x86-unindexed" };

	size_t i, functions = 0;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *path =
			xasprintf("%s/fuzz/corpus/unwind/%s", getenv("OP_SOURCE_ROOT"), names[i]);

		compare_file(path, &functions);
	}
	compare_file("/proc/self/exe", &functions);
	CHECK(functions > 20);
}

TESTS(T(random_programs_give_the_same_rows), T(functions_of_files_give_the_same_rows))
