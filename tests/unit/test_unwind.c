/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "elf/elffile.h"
#include "symbol/elfsym.h"
#include "symbol/symtab.h"
#include "unwind/internal/plt_shape.h"
#include "unwind/unwind.h"

#include <errno.h>

static void put_base(char *text, size_t size, const struct unwind_rule *r)
{
	static const char *const names[] = { "sp", "fp", "bx" };

	if (r->base == UNWIND_BASE_OTHER)
		snprintf(text, size, "r%d", r->reg);
	else
		snprintf(text, size, "%s", names[r->base]);
}

/* A register's save, appended; nothing where it is the ordinary one. */
static void put_save(char *text, size_t size, const char *name, int save, int n)
{
	size_t used = strlen(text);

	if (save == UNWIND_AT_CFA)
		snprintf(text + used, size - used, " %s@cfa%+d", name, n * 8);
	else if (save == UNWIND_AT_FP)
		snprintf(text + used, size - used, " %s@fp%+d", name, n * 8);
	else if (save == UNWIND_LOST)
		snprintf(text + used, size - used, " %s lost", name);
	else if (!strcmp(name, "ra"))
		snprintf(text + used, size - used, " ra=r%d", n);
}

/* The rule as a short text: "sp+16 ra@cfa-8 fp@cfa-16". */
static const char *rule_text(const struct unwind_rule *r)
{
	static char text[128];
	char base[16];

	if (r->cfa != UNWIND_CFA_NONE)
		put_base(base, sizeof(base), r);
	switch ((enum unwind_cfa)r->cfa) {
	case UNWIND_CFA_NONE:
		snprintf(text, sizeof(text), "none: %d", r->base);
		return text;
	case UNWIND_CFA_SIGNAL:
		return "signal";
	case UNWIND_CFA_END:
		return "end";
	case UNWIND_CFA_GUESS:
		return "guess";
	case UNWIND_CFA_STACK:
		return "other stack";
	case UNWIND_CFA_PLT:
		snprintf(text, sizeof(text), "plt+%d,%d", r->cfa_offset, r->cfa_add);
		break;
	case UNWIND_CFA_INDEX:
		snprintf(text, sizeof(text), "[sp%+d+8*%s]%+d", r->cfa_offset, base, r->cfa_add);
		break;
	case UNWIND_CFA_REG:
		snprintf(text, sizeof(text), "%s%+d", base, r->cfa_offset);
		break;
	case UNWIND_CFA_CHILD:
		snprintf(text, sizeof(text), "%s%+d or child", base, r->cfa_offset);
		break;
	case UNWIND_CFA_DEREF:
		snprintf(text, sizeof(text), "[%s%+d]%+d", base, r->cfa_offset, r->cfa_add);
		break;
	}
	put_save(text, sizeof(text), "ra", UNWIND_SAVE_RA(r->saves), r->ra);
	put_save(text, sizeof(text), "fp", UNWIND_SAVE_FP(r->saves), r->fp);
	put_save(text, sizeof(text), "bx", UNWIND_SAVE_BX(r->saves), r->bx);
	return text;
}

/* An image opened with its table and its symbols by file offset. */
struct image {
	struct elffile *ef;
	struct symtab *symbols;
	struct unwind_rules *rules;
	struct unwind_table *table;
};

static void image_donep(struct image *im)
{
	unwind_table_free(im->table);
	unwind_rules_free(im->rules);
	symtab_free(im->symbols);
	elffile_close(im->ef);
}
#define _cleanup_image_ _cleanup_(image_donep)

/* False, with the reason said, if it cannot be opened. */
static bool image_open(struct image *ret, const char *relative)
{
	struct error err = ERROR_INIT;
	_cleanup_free_ char *path = path_join(getenv("OP_BUILD_ROOT"), relative);
	int r = elffile_open(path, &ret->ef, &err);

	ret->rules = unwind_rules_new();
	ret->symbols = symtab_new();
	if (r == 0)
		r = unwind_table_build(ret->ef, ret->rules, &ret->table, &err);
	if (r < 0) {
		printf("# %s\n", err.text);
		CHECK_EQ(r, 0);
		return false;
	}
	CHECK(elfsym_load(ret->ef, NULL, ELFSYM_FILE_OFFSET, ret->symbols) > 0);
	return true;
}

static const char *rule_at(const struct image *im, uint64_t pc)
{
	size_t count;
	const struct unwind_rule *all = unwind_rules_all(im->rules, &count);
	uint16_t index = unwind_table_find(im->table, pc);

	return index < count ? rule_text(&all[index]) : "beyond the rules";
}

/* The PC of a symbol in the table; UINT64_MAX where there is none. */
static uint64_t pc_of(const struct image *im, const char *name)
{
	uint64_t pc;
	size_t i;

	for (i = 0; i < symtab_count(im->symbols); i++) {
		const struct symbol *sym = symtab_at(im->symbols, i);

		if (!strcmp(sym->name, name) && unwind_table_pc(im->table, sym->offset, &pc))
			return pc;
	}
	return UINT64_MAX;
}

#define FIXTURE "tests/fixtures/cfi/librules.so"

/* Skips a test where there is no fixture in the assembler of this machine. */
#ifdef __x86_64__
#define NEED_FIXTURE() ((void)0)
#else
#define NEED_FIXTURE() SKIP("the call frame information is in x86-64 assembler")
#endif

static void every_kind_of_rule_is_understood(void)
{
	static const struct {
		const char *label, *rule;
	} cases[] = {
		{ "plain_entry", "sp+8 ra@cfa-8" },
		{ "plain_pushed", "sp+16 ra@cfa-8 fp@cfa-16" },
		{ "plain_framed", "fp+16 ra@cfa-8 fp@cfa-16" },
		{ "plain_bx", "fp+16 ra@cfa-8 fp@cfa-16 bx@cfa-24" },
		{ "plain_popped", "sp+8 ra@cfa-8 bx@cfa-24" },
		{ "plain_again", "fp+16 ra@cfa-8 fp@cfa-16 bx@cfa-24" },
		{ "drap_entry", "r10+0 ra@cfa-8" },
		{ "drap_framed", "[fp-8]+0 ra@cfa-8 fp@fp+0" },
		{ "drap_bx", "[fp-8]+0 ra@cfa-8 fp@fp+0 bx@fp-24" },
		{ "deref_sp", "[sp+56]+8 ra@cfa-8" },
		{ "expression_register", "fp+16 ra@cfa-8" },
		{ "expression_sum", "sp+16 ra@cfa-8" },
		{ "expression_index_odd", "none: 1" },
		{ "expression_index", "[sp+8+8*r9]+8 ra@cfa-8" },
		{ "expression_odd", "none: 1" },
		{ "expression_over", "sp+8 ra@cfa-8" },
		{ "plt", "plt+8,11 ra@cfa-8" },
		{ "trampoline", "bx+16 ra@cfa-8" },
		{ "lost_fp", "bx+16 ra@cfa-8 fp lost" },
		{ "ra_in_register", "bx+16 ra=r5 fp lost" },
		{ "ra_odd", "none: 2" },
		{ "far_cfa", "bx+305419896 ra@cfa-8 fp lost" },
		{ "odd_fp", "bx+305419896 ra@cfa-8 fp lost" },
		{ "outermost", "end" },
		{ "signal", "signal" },
		{ "undescribed", "none: 6" },
		{ "frame_pointer", "none: 0" },
		{ "entry", "end" },
		{ "entry_later", "end" },
		{ "clone_before", "sp+8 ra@cfa-8" },
		{ "clone_both", "sp+8 or child ra@cfa-8" },
		{ "clone_branch", "sp+8 or child ra@cfa-8" },
		{ "clone_child", "end" },
		{ "clone_exit", "end" },
		{ "clone_failed", "sp+8 ra@cfa-8" },
		{ "padding", "sp+8 ra@cfa-8" },
		{ "context_before", "end" },
		{ "context_start", "end" },
		{ "context_later", "end" },
		{ "damaged_start", "none: 4" },
		{ "damaged_later", "none: 4" },
		{ "long_start", "sp+8 ra@cfa-8" },
		{ "long_end", "sp+40 ra@cfa-8" },
	};
	_cleanup_image_ struct image im = { NULL };
	size_t i;

	NEED_FIXTURE();
	if (!image_open(&im, FIXTURE))
		return;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		printf("# %s\n", cases[i].label);
		CHECK_STR(rule_at(&im, pc_of(&im, cases[i].label)), cases[i].rule);
	}
	CHECK_EQ(im.table->bad_fde_count, 1);
}

static void rows_reach_over_pages(void)
{
	_cleanup_image_ struct image im = { NULL };
	uint64_t start, pc;

	NEED_FIXTURE();
	if (!image_open(&im, FIXTURE))
		return;
	start = pc_of(&im, "long_start");
	for (pc = start + 1; pc <= start + 200000; pc += 4099)
		CHECK_STR(rule_at(&im, pc), "sp+40 ra@cfa-8");
	CHECK_STR(rule_at(&im, 1ULL << 31), "none: 0");
	CHECK_STR(rule_at(&im, UINT64_MAX), "none: 0");
}

static void tables_are_flat_and_closed(void)
{
	_cleanup_image_ struct image im = { NULL };
	const struct unwind_table *t;
	size_t i, k;

	NEED_FIXTURE();
	if (!image_open(&im, FIXTURE))
		return;
	t = im.table;
	CHECK_EQ(t->pages[t->page_count], t->row_count);
	CHECK_EQ(unwind_table_bytes(t), 4 * (t->page_count + 1) + 4 * t->row_count);
	for (i = 0; i < t->page_count; i++) {
		CHECK_EQ(t->rows[t->pages[i]].pc, 0);
		for (k = t->pages[i] + 1; k < t->pages[i + 1]; k++) {
			CHECK(t->rows[k - 1].pc < t->rows[k].pc);
			CHECK(t->rows[k - 1].rule != t->rows[k].rule);
		}
	}
}

static void what_calls_and_exits_begins_a_stack(void)
{
	static const struct {
		const char *label, *rule;
	} cases[] = {
		{ "described_call", "sp+8 ra@cfa-8" },
		{ "main_thread", "none: 6" },
		{ "main_called", "end" },
		{ "main_ended", "end" },
		{ "other_thread", "none: 6" },
		{ "thread_called", "end" },
		{ "thread_ended", "end" },
		{ "c11_called", "end" },
		{ "c11_ended", "end" },
		{ "failing_called", "none: 6" },
		{ "failing_ended", "none: 6" },
		{ "handing_called", "none: 6" },
		{ "direct_called", "none: 6" },
	};
	_cleanup_image_ struct image im = { NULL };
	size_t i;

	NEED_FIXTURE();
	if (!image_open(&im, "tests/fixtures/cfi/libexits.so"))
		return;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		printf("# %s\n", cases[i].label);
		CHECK_STR(rule_at(&im, pc_of(&im, cases[i].label)), cases[i].rule);
	}
}

static void debug_frame_is_read_where_eh_frame_says_nothing(void)
{
	static const char *const names[] = { "plain", "zlib" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_image_ struct image im = { NULL };
		_cleanup_(elffile_closep) struct elffile *ef = NULL;
		_cleanup_free_ char *path =
			xasprintf("tests/fixtures/cfi/libdebugframe_%s.so", names[i]);
		_cleanup_free_ char *full = path_join(getenv("OP_BUILD_ROOT"), path);
		struct elf_section section;
		uint64_t pc;

		if (!image_open(&im, path) || elffile_open(full, &ef, NULL) < 0)
			return;
		CHECK(elffile_find_section(ef, ".debug_frame", &section));
		CHECK_EQ((section.header.sh_flags & SHF_COMPRESSED) != 0, i == 1);
		pc = pc_of(&im, "described");
		CHECK_EQ(im.table->fde_count, 21);
#ifdef __x86_64__
		CHECK_STR(rule_at(&im, pc), "sp+8 ra@cfa-8");
#elif defined(__aarch64__)
		CHECK_STR(rule_at(&im, pc), "sp+0 ra=r30");
#endif
	}
}

/* A shared library of AArch64 with one segment of code, and nothing that describes it but, perhaps,
 * one FDE. */
static void the_trampoline_of_aarch64_is_known_by_its_code(void)
{
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	_cleanup_(unwind_table_freep) struct unwind_table *table = NULL;
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	static const uint32_t code[] = { 0xd503201f, 0xd2801168, 0xd4000001, 0xd503201f };
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		uint32_t code[4];
	} file = { .header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
			       .e_type = ET_DYN,
			       .e_machine = EM_AARCH64,
			       .e_version = 1,
			       .e_phoff = sizeof(Elf64_Ehdr),
			       .e_ehsize = sizeof(Elf64_Ehdr),
			       .e_phentsize = sizeof(Elf64_Phdr),
			       .e_phnum = 1 },
		   .segment = { .p_type = PT_LOAD,
				.p_flags = PF_R | PF_X,
				.p_filesz = sizeof(file),
				.p_memsz = sizeof(file) } };
	uint64_t at = offsetof(__typeof__(file), code);
	const struct unwind_rule *all;
	size_t count;

	memcpy(file.code, code, sizeof(code));
	CHECK_EQ(elffile_open_memory(&file, sizeof(file), "vdso", &ef, NULL), 0);
	CHECK_EQ(unwind_table_build(ef, rules, &table, NULL), 0);
	if (!table)
		return;
	all = unwind_rules_all(rules, &count);
	/* A handler returns to the first instruction, and is looked up one byte before. */
	CHECK_STR(rule_text(&all[unwind_table_find(table, at + 3)]), "signal");
	CHECK_STR(rule_text(&all[unwind_table_find(table, at + 8)]), "signal");
	CHECK_STR(rule_text(&all[unwind_table_find(table, at + 12)]), "none: 6");
}

static void a_linkage_table_without_description_has_rules(void)
{
	_cleanup_image_ struct image im = { NULL };
	static const struct {
		const char *name;
		const char *rule;
	} cases[] = {
		{ "plt_head", "plt+16,6 ra@cfa-8" },
		{ "plt_stub", "plt+8,11 ra@cfa-8" },
		{ "plt_last", "plt+8,11 ra@cfa-8" },
		{ "described", "sp+8 ra@cfa-8" },
	};
	size_t i;

	NEED_FIXTURE();
	if (!image_open(&im, "tests/fixtures/cfi/libplt.so"))
		return;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		printf("# %s\n", cases[i].name);
		CHECK_STR(rule_at(&im, pc_of(&im, cases[i].name)), cases[i].rule);
	}
}

static void code_of_go_is_unwound_by_its_table(void)
{
	static const struct {
		const char *name;
		const char *rule;
	} cases[] = {
		{ "runtime.goexit.abi0", "end" },
		{ "runtime.mcall", "end" },
		{ "runtime.mcaller", "sp+8 ra@cfa-8 bx lost" },
		{ "runtime.systemstack.abi0", "other stack" },
		{ "runtime.systemstack_switch.abi0", "sp+8 ra@cfa-8 bx lost" },
		{ "runtime.sigreturn.abi0", "signal" },
		{ "main.method", "sp+8 ra@cfa-8 bx lost" },
	};
	static const char *const files[] = { "go2", "go16", "go18", "go20", "libgo.so" };
	size_t i, k;

	NEED_FIXTURE();
	for (k = 0; k < ARRAY_SIZE(files); k++) {
		_cleanup_image_ struct image im = { NULL };
		_cleanup_free_ char *path = path_join("tests/fixtures/cfi", files[k]);
		uint64_t pc;

		printf("# %s\n", path);
		if (!image_open(&im, path))
			continue;
		for (i = 0; i < ARRAY_SIZE(cases); i++) {
			printf("# %s\n", cases[i].name);
			pc = pc_of(&im, cases[i].name);
			CHECK_STR(rule_at(&im, pc), cases[i].rule);
			CHECK_STR(rule_at(&im, pc + 30), cases[i].rule);
		}
		pc = pc_of(&im, "main.method");
		CHECK_STR(rule_at(&im, pc + 4), "sp+32 ra@cfa-8 fp@cfa-16 bx lost");
		CHECK_STR(rule_at(&im, pc + 27), "sp+32 ra@cfa-8 fp@cfa-16 bx lost");
		pc = pc_of(&im, "time.now.abi0");
		CHECK_STR(rule_at(&im, pc), "sp+8 ra@cfa-8 bx lost");
		CHECK_STR(rule_at(&im, pc + 4), "other stack");
		pc = pc_of(&im, "runtime.sigreturn.abi0");
		CHECK_STR(rule_at(&im, pc - 1), "signal");
		CHECK_STR(rule_at(&im, pc - 2), "sp+8 ra@cfa-8 bx lost");
		pc = pc_of(&im, "runtime.systemstack_switch.abi0");
		CHECK_STR(rule_at(&im, pc - 1), "sp+8 ra@cfa-8 bx lost");
		CHECK_STR(rule_at(&im, pc - 2), "other stack");
	}
}

/* The rule for byte @at of a table with @code. */
static const char *plt_rule(enum unwind_machine machine, const char *section, struct span code,
			    uint32_t at)
{
	const struct plt_part *part = plt_shape(machine, section, code);
	uint32_t end = 0;

	for (; part && part->rule; part++) {
		end += part->bytes;
		if (!part->bytes || at < end)
			return rule_text(part->rule);
	}
	return "none";
}

/* The first bytes of tables as linkers write them, without the addresses in them. */
static void linkage_tables_are_known_by_their_code(void)
{
	static const uint8_t ibt[64] = { [0] = 0xff, 0x35, [6] = 0xff, 0x25, [16] = 0xf3,
					 0x0f,	     0x1e, 0xfa,       0x68 },
			     retpoline[64] = { [0] = 0xff, 0x35,	[6] = 0x4c,  0x8b,
					       0x1d,	   [13] = 0xe8, [32] = 0x4c, 0x89,
					       0x1c,	   0x24,	0xc3 },
			     retpoline_now[64] = { 0xe8,	0x0b, 0,    0,	  0,
						   [16] = 0x4c, 0x89, 0x1c, 0x24, 0xc3 },
			     mold[64] = { 0xf3, 0x0f, 0x1e, 0xfa,	 0x41,
					  0x53, 0xff, 0x35, [12] = 0xff, 0x25 },
			     arm[64] = { 0xf0, 0x7b, 0xbf, 0xa9 },
			     arm_bti[64] = { 0x5f, 0x24, 0x03, 0xd5, 0xf0, 0x7b, 0xbf, 0xa9 },
			     other[64] = { 0x90, 0x90 };
	static const struct {
		enum unwind_machine machine;
		const char *section;
		const uint8_t *code;
		uint32_t at;
		const char *rule;
	} cases[] = {
		{ UNWIND_X86_64, ".plt", ibt, 15, "plt+16,6 ra@cfa-8" },
		{ UNWIND_X86_64, ".plt", ibt, 16, "plt+8,9 ra@cfa-8" },
		{ UNWIND_X86_64, ".plt", retpoline, 0, "plt+16,6 ra@cfa-8" },
		{ UNWIND_X86_64, ".plt", retpoline, 32, "sp+16 ra@cfa-8" },
		{ UNWIND_X86_64, ".plt", retpoline, 48, "sp+8 ra@cfa-8" },
		{ UNWIND_X86_64, ".plt", retpoline_now, 0, "sp+8 ra@cfa-8" },
		{ UNWIND_X86_64, ".plt", retpoline_now, 20, "sp+16 ra@cfa-8" },
		{ UNWIND_X86_64, ".plt", retpoline_now, 32, "sp+8 ra@cfa-8" },
		{ UNWIND_X86_64, ".plt", mold, 4, "sp+8 ra@cfa-8" },
		{ UNWIND_X86_64, ".plt", mold, 6, "sp+16 ra@cfa-8" },
		{ UNWIND_X86_64, ".plt", mold, 12, "sp+24 ra@cfa-8" },
		{ UNWIND_X86_64, ".plt", mold, 32, "sp+8 ra@cfa-8" },
		{ UNWIND_X86_64, ".plt", other, 0, "none" },
		{ UNWIND_X86_64, ".plt.sec", other, 0, "sp+8 ra@cfa-8" },
		{ UNWIND_X86_64, ".text", mold, 0, "none" },
		{ UNWIND_AARCH64, ".plt", arm, 0, "sp+0 ra=r30" },
		{ UNWIND_AARCH64, ".plt", arm, 4, "sp+16 ra@cfa-8" },
		{ UNWIND_AARCH64, ".plt", arm, 32, "sp+0 ra=r30" },
		{ UNWIND_AARCH64, ".plt", arm_bti, 4, "sp+0 ra=r30" },
		{ UNWIND_AARCH64, ".plt", arm_bti, 8, "sp+16 ra@cfa-8" },
		{ UNWIND_AARCH64, ".plt", other, 0, "sp+0 ra=r30" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		printf("# case %zu\n", i);
		CHECK_STR(plt_rule(cases[i].machine, cases[i].section, span_of(cases[i].code, 64),
				   cases[i].at),
			  cases[i].rule);
	}
	CHECK_STR(plt_rule(UNWIND_X86_64, ".plt", span_of(mold, 7), 0), "none");
}

static void one_rule_has_one_index(void)
{
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	struct unwind_rule rule = { .cfa = UNWIND_CFA_REG };
	const struct unwind_rule *all;
	size_t count, i;

	for (i = 0; i < 5000; i++) {
		rule.cfa_offset = (int32_t)(i % 2500);
		CHECK_EQ(unwind_rules_add(rules, &rule), 1 + i % 2500);
	}
	all = unwind_rules_all(rules, &count);
	CHECK_EQ(count, 2501);
	CHECK_STR(rule_text(&all[0]), "none: 0");
	CHECK_EQ(all[2500].cfa_offset, 2499);
	CHECK_EQ(unwind_rules_add(rules, &all[0]), 0);
}

static void a_full_set_says_so(void)
{
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	struct unwind_rule rule = { .cfa = UNWIND_CFA_REG };
	const struct unwind_rule *all;
	uint16_t index = 0;
	size_t count;
	int32_t i;

	for (i = 0; i < 70000; i++) {
		rule.cfa_offset = i;
		index = unwind_rules_add(rules, &rule);
	}
	all = unwind_rules_all(rules, &count);
	CHECK_EQ(count, UNWIND_RULES_MAX);
	CHECK_EQ(index, UNWIND_RULES_MAX - 1);
	CHECK_STR(rule_text(&all[index]), "none: 5");
	rule.cfa_offset = 17;
	CHECK_EQ(all[unwind_rules_add(rules, &rule)].cfa_offset, 17);
}

/* Adds @count rules that only @file has; how many found room. */
static size_t add_rules(struct unwind_rules *rules, int32_t file, int32_t count)
{
	struct unwind_rule rule = { .cfa = UNWIND_CFA_REG };
	size_t fit = 0;
	int32_t i;

	unwind_rules_begin(rules);
	for (i = 0; i < count; i++) {
		struct unwind_row row = { 0 };

		rule.cfa_offset = file << 16 | i;
		row.rule = unwind_rules_add(rules, &rule);
		fit += unwind_rules_missing(rules, &row, 1) == 0;
	}
	return fit;
}

static void one_file_leaves_rules_for_others(void)
{
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	int32_t file = 0;

	CHECK_EQ(add_rules(rules, 0, 65535), UNWIND_RULES_OF_FILE);
	CHECK_EQ(add_rules(rules, 0, 65535), 2 * UNWIND_RULES_OF_FILE); /* the first are known */
	while (!unwind_rules_nearly_full(rules))
		CHECK_EQ(add_rules(rules, ++file, 1300), 1300);
	CHECK(file > 40);
	unwind_rules_clear(rules);
	CHECK_EQ(add_rules(rules, 0, 1300), 1300);
}

static void rows_can_be_moved_to_another_set(void)
{
	_cleanup_(unwind_rules_freep) struct unwind_rules *from = unwind_rules_new();
	_cleanup_(unwind_rules_freep) struct unwind_rules *to = unwind_rules_new();
	_cleanup_free_ uint16_t *indices = xcalloc(UNWIND_RULES_MAX, sizeof(*indices));
	struct unwind_row rows[] = { { 0, 0 }, { 1, 1200 }, { 2, 7 }, { 3, 1200 } };
	size_t count;

	CHECK_EQ(add_rules(from, 0, 1300), 1300);
	unwind_rules_move(to, from, indices, rows, ARRAY_SIZE(rows));
	CHECK_EQ(rows[0].rule, 0);
	CHECK_EQ(rows[3].rule, rows[1].rule);
	CHECK_EQ(unwind_rules_all(to, &count)[rows[1].rule].cfa_offset, 1199);
	CHECK_EQ(unwind_rules_all(to, &count)[rows[2].rule].cfa_offset, 6);
	CHECK_EQ(count, 3);
}

static void other_files_are_refused(void)
{
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = unwind_rules_new();
	_cleanup_free_ char *path =
		path_join(getenv("OP_BUILD_ROOT"), "tests/fixtures/elf/my-module.ko");
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	struct unwind_table *table = NULL;
	struct error err = ERROR_INIT;

	CHECK_EQ(elffile_open(path, &ef, &err), 0);
	CHECK_EQ(unwind_table_build(ef, rules, &table, &err), -ENODATA);
	CHECK(strstr(err.text, "my-module.ko: no executable code"));
	CHECK(!table);
}

TESTS(T(every_kind_of_rule_is_understood), T(what_calls_and_exits_begins_a_stack),
      T(rows_reach_over_pages), T(tables_are_flat_and_closed),
      T(debug_frame_is_read_where_eh_frame_says_nothing),
      T(the_trampoline_of_aarch64_is_known_by_its_code),
      T(a_linkage_table_without_description_has_rules), T(code_of_go_is_unwound_by_its_table),
      T(linkage_tables_are_known_by_their_code), T(one_rule_has_one_index), T(a_full_set_says_so),
      T(one_file_leaves_rules_for_others), T(rows_can_be_moved_to_another_set),
      T(other_files_are_refused))
