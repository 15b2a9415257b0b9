/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/unwind.h"

#include "base/mem.h"
#include "elf/elf_exports.h"
#include "elf/elffile.h"
#include "interpreter/interpreter_image.h"
#include "unwind/internal/cfi_program.h"
#include "unwind/internal/frame_search.h"
#include "unwind/internal/stack_bottom.h"
#include "unwind/internal/unwind_go.h"
#include "unwind/internal/unwind_rows.h"
#include "unwind/unwind_functions.h"

#include <dwarf.h>

enum {
	/* A hole of at most this size between two functions is padding that never runs; it gets
	 * the rule of the function before it. */
	PADDING_MAX = 15,
	/* Limit on the bytes of programs run, in sizes of the section: only damaged input makes
	 * functions share programs. */
	PROGRAM_SHARE = 4,
	/* Estimated bytes of call frame information per row, and the most rows for which memory
	 * is allocated in advance. */
	ROW_BYTES = 6,
	ROWS_ROOM = 1 << 20,
};

/* Of code that nothing calls. */
static const struct unwind_rule outermost = { .cfa = UNWIND_CFA_END };

struct build {
	struct unwind_table *table;
	struct unwind_functions functions;
	struct unwind_rows rows;
	size_t budget;	   /* bytes of programs that may yet be run */
	bool is_c_library; /* or may contain one: it has code that begins stacks */
};

/* Whether the file may be a C library, or contain one. What looks for its code reads a large part
 * of the file. */
static bool may_be_c_library(const struct elffile *ef)
{
	return !elf_exports_needs_others(ef) || elf_exports_may_have(ef, "clone");
}

static int find_segments(struct build *b, struct error *err)
{
	struct unwind_table *t = b->table;
	size_t i, count = 0;
	GElf_Phdr ph;

	if (elf_getphdrnum(elffile_elf(b->functions.ef), &count) < 0)
		count = 0;
	for (i = 0; i < count && t->segment_count < UNWIND_SEGMENTS_MAX; i++) {
		if (!gelf_getphdr(elffile_elf(b->functions.ef), (int)i, &ph))
			continue;
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) || !ph.p_filesz)
			continue;
		t->segments[t->segment_count++] =
			(struct unwind_segment){ ph.p_offset, ph.p_filesz, ph.p_vaddr };
	}
	if (!t->segment_count)
		return error_set(err, -ENODATA, "%s: no executable code",
				 elffile_path(b->functions.ef));
	t->base = UINT64_MAX;
	for (i = 0; i < t->segment_count; i++)
		t->base = MIN(t->base, t->segments[i].pc);
	for (i = 0; i < t->segment_count; i++) {
		struct unwind_segment *s = &t->segments[i];
		uint64_t end;

		s->pc -= t->base;
		if (__builtin_add_overflow(s->pc, s->size, &end) || end > 1ULL << 32)
			return error_set(err, -EBADMSG, "%s: code spans more than 4 GiB",
					 elffile_path(b->functions.ef));
		b->functions.top = MAX(b->functions.top, end);
	}
	b->functions.base = t->base;
	t->page_count = (size_t)((b->functions.top + 0xffff) >> UNWIND_PAGE_SHIFT);
	return 0;
}

/* Writes the rows of an FDE; if its program is damaged, one row that says so. */
static void write_function(struct build *b, const struct cfi_fde *fde)
{
	static const struct unwind_rule damaged = { .base = UNWIND_WHY_DAMAGED };
	struct unwind_rows_mark mark = unwind_rows_mark(&b->rows);

	b->table->fde_count++;
	if (fde->program.left <= b->budget &&
	    cfi_program_run(fde, b->table->machine, &b->rows) == 0) {
		b->budget -= fde->program.left;
		return;
	}
	b->budget -= MIN(b->budget, fde->program.left);
	b->table->bad_fde_count++;
	unwind_rows_rewind(&b->rows, &mark);
	unwind_rows_put_rule(&b->rows, fde->start - b->table->base, &damaged);
}

/* Writes a row that says that nothing is known from @pc on, up to @end. */
static void write_hole(struct build *b, uint64_t pc, uint64_t end)
{
	const uint64_t base = b->table->base;
	const struct unwind_rule hole = {
		.cfa = UNWIND_CFA_NONE,
		.base = frame_search(b->functions.ef, b->table->machine, base + pc, base + end)
				? UNWIND_WHY_NO_ROW
				: UNWIND_WHY_NO_FRAME,
	};

	unwind_rows_limit(&b->rows, b->functions.top);
	unwind_rows_put_rule(&b->rows, pc, &hole);
}

/* Writes what applies from @pc on, where a function ended, up to @end, where the next one starts.
 * Returns whether that is the child of a clone. */
static bool write_gap(struct build *b, uint64_t pc, uint64_t end)
{
	const struct unwind_functions *f = &b->functions;
	const struct unwind_rule *rule = NULL;
	struct span code;

	if (end - pc > PADDING_MAX) {
		write_hole(b, pc, end);
		return false;
	}
	if (b->is_c_library && unwind_functions_bytes(f, f->base + pc, &code)) {
		code.left = MIN(code.left, (size_t)(end - pc));
		rule = stack_bottom_of_clone(f->machine, code);
	}
	if (rule) {
		unwind_rows_limit(&b->rows, end);
		unwind_rows_put_rule(&b->rows, pc, rule);
	}
	return rule != NULL;
}

static bool has_one_rule(const struct cfi_fde *fde)
{
	struct span program = fde->program;
	uint8_t byte;

	while (span_u8(&program, &byte) == 0)
		if (byte != DW_CFA_nop)
			return false;
	return true;
}

/* Writes that @pc has no caller. */
static void write_outermost(struct build *b, uint64_t pc)
{
	unwind_rows_limit(&b->rows, pc + 1);
	unwind_rows_put_rule(&b->rows, pc, &outermost);
}

/* Returns the rule for all of a function that begins a stack, or NULL. @end is where the function
 * before it ended, which is the child of a clone if @is_after_child. */
static const struct unwind_rule *bottom_rule(struct build *b, struct cfi_fde *fde, uint64_t end,
					     bool is_after_child)
{
	uint64_t pc = fde->start - b->table->base;
	struct span code;

	if (!b->is_c_library || !has_one_rule(fde))
		return NULL;
	/* The last instruction of the child is its exit(2), during which the PC is after it. */
	if (is_after_child && pc == end) {
		write_outermost(b, pc);
		fde->start++;
		return NULL;
	}
	if (!unwind_functions_bytes(&b->functions, fde->start, &code) ||
	    !stack_bottom_is_context(b->functions.machine, code))
		return NULL;
	/* What returns to its first instruction is looked up one byte before. */
	if (pc > end)
		write_outermost(b, pc - 1);
	return &outermost;
}

static void write_rows(struct build *b, struct unwind_rules *rules)
{
	const struct unwind_functions *f = &b->functions;
	struct unwind_table *t = b->table;
	const struct unwind_rule *rule;
	struct cfi_fde fde = { 0 };
	bool is_child = false, is_after_child;
	uint64_t end = 0; /* PC where the last function ends */
	size_t i;

	b->budget = t->cfi_bytes * PROGRAM_SHARE;
	b->is_c_library = may_be_c_library(f->ef);
	unwind_rows_init(&b->rows, rules, t->base, t->page_count,
			 MIN(t->cfi_bytes / ROW_BYTES, (size_t)ROWS_ROOM));
	if (t->machine != UNWIND_AARCH64)
		b->rows.ra_word = (uint8_t)unwind_word(t->machine);
	for (i = 0; i < f->count; i++) {
		uint64_t start = f->all[i].start - t->base;

		if (!unwind_functions_read(&b->functions, i, &fde, &rule)) {
			t->bad_fde_count++;
			continue;
		}
		is_after_child = is_child;
		is_child = start > end && write_gap(b, end, start);
		if (!rule && f->all[i].source == UNWIND_SOURCE_EH)
			rule = bottom_rule(b, &fde, end, is_after_child);
		end = MIN(fde.end - t->base, f->top);
		if (i + 1 < f->count)
			end = MIN(end, f->all[i + 1].start - t->base);
		unwind_rows_limit(&b->rows, end);
		if (rule)
			unwind_rows_put_rule(&b->rows, start, rule);
		else if (f->all[i].source == UNWIND_SOURCE_GO)
			unwind_go_write(f->go, f->all[i].offset, t->machine, &b->rows);
		else
			write_function(b, &fde);
	}
	write_hole(b, end, f->top);
	t->row_count = unwind_rows_finish(&b->rows);
	t->pages = b->rows.pages;
	t->rows = b->rows.rows;
}

/* Stores the machine that the code is for; false if it is not supported. */
static bool find_machine(const GElf_Ehdr *header, enum unwind_machine *ret)
{
	static const struct {
		unsigned char class;
		uint16_t machine;
		enum unwind_machine ours;
	} rows[] = {
		{ ELFCLASS64, EM_X86_64, UNWIND_X86_64 },
		{ ELFCLASS64, EM_AARCH64, UNWIND_AARCH64 },
		{ ELFCLASS32, EM_386, UNWIND_I386 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (header->e_ident[EI_CLASS] == rows[i].class &&
		    header->e_machine == rows[i].machine) {
			*ret = rows[i].ours;
			return header->e_ident[EI_DATA] == ELFDATA2LSB;
		}
	}
	return false;
}

static int build_table(struct build *b, struct unwind_rules *rules, struct error *err)
{
	struct unwind_functions *f = &b->functions;
	const GElf_Ehdr *header = elffile_header(f->ef);
	struct unwind_table *t = b->table;
	int r;

	if (!find_machine(header, &t->machine))
		return error_set(err, -ENOTSUP, "%s: neither x86-64 nor AArch64 nor i386",
				 elffile_path(f->ef));
	f->machine = t->machine;
	r = find_segments(b, err);
	if (r < 0)
		return r;
	unwind_functions_find(f);
	t->cfi_bytes = f->cfi_bytes;
	t->bad_fde_count = f->bad_count;
	if (!f->count)
		return error_set(err, t->bad_fde_count ? -EBADMSG : -ENODATA,
				 "%s: no unwind information", elffile_path(f->ef));
	(void)interpreter_image_read(f->ef, t->base, &t->interpreter);
	unwind_rules_begin(rules);
	write_rows(b, rules);
	return 0;
}

int unwind_table_build(struct elffile *ef, struct unwind_rules *rules, struct unwind_table **ret,
		       struct error *err)
{
	struct build b = { .functions = { .ef = ef }, .table = xcalloc(1, sizeof(*b.table)) };
	int r = build_table(&b, rules, err);

	unwind_functions_done(&b.functions);
	if (r < 0)
		unwind_table_free(b.table);
	else
		*ret = b.table;
	return r;
}

void unwind_table_free(struct unwind_table *table)
{
	if (!table)
		return;
	free(table->pages);
	free(table->rows);
	free(table);
}

size_t unwind_table_bytes(const struct unwind_table *table)
{
	return (table->page_count + 1) * sizeof(*table->pages) +
	       table->row_count * sizeof(*table->rows);
}

bool unwind_table_pc(const struct unwind_table *table, uint64_t offset, uint64_t *ret)
{
	size_t i;

	for (i = 0; i < table->segment_count; i++) {
		const struct unwind_segment *s = &table->segments[i];

		if (offset >= s->offset && offset - s->offset < s->size) {
			*ret = offset - s->offset + s->pc;
			return true;
		}
	}
	return false;
}

uint16_t unwind_table_find(const struct unwind_table *table, uint64_t pc)
{
	uint64_t page = pc >> UNWIND_PAGE_SHIFT;
	uint16_t low = (uint16_t)pc;
	const struct unwind_row *row;
	size_t n;

	if (page >= table->page_count)
		return 0;
	row = table->rows + table->pages[page];
	/* No branch depends on the rows: it would be mispredicted half of the time. */
	for (n = table->pages[page + 1] - table->pages[page]; n > 1; n -= n / 2)
		row += row[n / 2].pc <= low ? n / 2 : 0;
	return row->rule;
}
