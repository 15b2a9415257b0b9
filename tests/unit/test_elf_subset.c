/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/elfwrite/elf_subset.c and line_table.c: what is written of a file can be read back. */
#include "test.h"

#include "disasm/disasm.h"
#include "symbol/elfsym.h"
#include "dwarf/lines.h"
#include "elfwrite/elf_subset.h"
#include "elfwrite/line_table.h"

#include <unistd.h>

static struct elffile *fixture(const char *name)
{
	_cleanup_free_ char *path =
		xasprintf("%s/tests/fixtures/elf/%s", getenv("OP_BUILD_ROOT"), name);
	struct elffile *ef = NULL;
	struct error err = ERROR_INIT;

	if (!CHECK(elffile_open(path, &ef, &err) == 0))
		printf("# %s\n", err.text);
	return ef;
}

static const struct symbol *find_named(const struct symtab *st, const char *name)
{
	size_t i;

	for (i = 0; i < symtab_count(st); i++)
		if (!strcmp(symtab_at(st, i)->name, name))
			return symtab_at(st, i);
	return NULL;
}

static struct symtab *symbols_of(const struct elffile *ef)
{
	struct symtab *st = symtab_new();

	(void)elfsym_load(ef, NULL, ELFSYM_FILE_OFFSET, st);
	symtab_settle(st);
	return st;
}

static void check_line(struct lines *l, uint64_t address, const char *file, unsigned int line)
{
	struct lines_place at = { "none", 0 };

	CHECK(lines_find(l, address, &at));
	CHECK_STR(at.file, file);
	CHECK_EQ(at.line, line);
}

/* Writes one symbol of the file with lines that are made up, and reads it back. */
static void one_symbol_is_kept_with_code_and_lines(void)
{
	static const char *const names[] = { "exe-pie", "exe-fixed", "lib.so" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(elffile_closep) struct elffile *ef = fixture(names[i]), *back = NULL;
		_cleanup_(symtab_freep) struct symtab *st = symbols_of(ef), *kept = NULL;
		_cleanup_(line_table_freep) struct line_table *t = line_table_new(true, false);
		_cleanup_(lines_freep) struct lines *l = NULL;
		_cleanup_(disasm_freep) struct disasm *was = NULL, *is = NULL;
		_cleanup_free_ void *bytes = NULL;
		const struct symbol *sym = find_named(st, "marked_second"), *found;
		uint64_t start = sym->address, end = start + (sym->end - sym->offset);
		struct line_table_section sections[LINE_TABLE_SECTIONS];
		struct elf_subset_run run = { start, end };
		struct elf_subset_symbol one = { "marked_second", NULL, start, end - start, true };
		struct elf_subset slim = { ef, &run, 1, &one, 1, sections };
		const struct lines_call *calls = NULL;
		const void *code, *code_was = elffile_bytes(ef, sym->offset, end - start);
		struct disasm_insn a, b;
		struct lines_place at;
		size_t size = 0;

		line_table_add(t, start, "/src/a.c", 70000);
		line_table_add(t, start + 1, "/src/b.c", 3);
		line_table_add(t, start + 2, NULL, 0);
		line_table_add(t, start + 3, "/src/a.c", 1);
		line_table_end(t, end);
		line_table_function(t, "code", start, end);
		line_table_enter(t, "outer", "/src/a.c", 5, start, end);
		line_table_enter(t, "inner", "/src/b.c", 6, start + 1, start + 2);
		line_table_leave(t);
		line_table_enter(t, "inner", NULL, 0, start + 3, start + 4);
		line_table_leave(t);
		line_table_leave(t);
		line_table_finish(t, sections);
		CHECK_EQ(elf_subset_write(&slim, &bytes, &size, NULL), 0);
		CHECK_EQ(elffile_open_memory(bytes, size, "slim", &back, NULL), 0);
		kept = symbols_of(back);
		CHECK_EQ(symtab_count(kept), 1);
		found = symtab_find(kept, sym->offset);
		CHECK(found && !strcmp(found->name, "marked_second"));
		CHECK(found && found->offset == sym->offset && found->end == sym->end);
		CHECK(found && found->rank & SYMBOL_GO && !(sym->rank & SYMBOL_GO));
		CHECK(build_id_equal(elffile_build_id(ef), elffile_build_id(back)));
		CHECK_EQ(elffile_size(back), elffile_size(ef));
		code = elffile_bytes(back, sym->offset, end - start);
		CHECK(code && code_was && !memcmp(code, code_was, end - start));
		CHECK(!elffile_bytes(back, sym->offset, end - start + 1));
		l = lines_new(back, NULL);
		check_line(l, start, "/src/a.c", 70000);
		check_line(l, start + 1, "/src/b.c", 3);
		CHECK(!lines_find(l, start + 2, &at));
		check_line(l, end - 1, "/src/a.c", 1);
		CHECK(!lines_find(l, end, &at));
		CHECK_EQ(lines_inlines(l, start, &calls), 1);
		CHECK_STR(calls[0].function, "outer");
		CHECK_EQ(lines_inlines(l, start + 1, &calls), 2);
		CHECK_STR(calls[0].function, "inner");
		CHECK_STR(calls[0].at.file, "/src/b.c");
		CHECK_EQ(calls[0].at.line, 6);
		CHECK_STR(calls[1].at.file, "/src/a.c");
		CHECK(lines_start(l, start + 1, &at) && !strcmp(at.file, "/src/a.c") &&
		      at.line == calls[1].at.line);
		CHECK_EQ(lines_inlines(l, start + 3, &calls), 2);
		CHECK(calls[0].at.file == NULL || calls[0].at.line == 0);
		CHECK_EQ(lines_inlines(l, end, &calls), 0);
		CHECK_EQ(disasm_new(ef, NULL, NULL, NULL, &was, NULL), 0);
		CHECK_EQ(disasm_new(back, NULL, NULL, NULL, &is, NULL), 0);
		CHECK(disasm_seek(was, start, end) && disasm_seek(is, start, end));
		CHECK_STR(disasm_section(is), disasm_section(was));
		while (disasm_next(was, &a))
			if (!CHECK(disasm_next(is, &b) && !strcmp(a.text, b.text)))
				break;
	}
}

static void nothing_kept_is_a_file_too(void)
{
	_cleanup_(elffile_closep) struct elffile *ef = fixture("exe-static"), *back = NULL;
	_cleanup_free_ void *bytes = NULL;
	struct elf_subset slim = { .ef = ef };
	uint64_t offset = 0;
	size_t size;

	CHECK_EQ(elf_subset_write(&slim, &bytes, &size, NULL), 0);
	CHECK_EQ(elffile_open_memory(bytes, size, "slim", &back, NULL), 0);
	CHECK(elffile_offset(back, elffile_header(ef)->e_entry, &offset) && offset);
	CHECK(size < 4096);
}

TESTS(T(one_symbol_is_kept_with_code_and_lines), T(nothing_kept_is_a_file_too))
