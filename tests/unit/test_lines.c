/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "elf/debugfile.h"
#include "symbol/elfsym.h"
#include "dwarf/lines.h"
#include "symbol/symtab.h"

/* An ELF fixture with its symbols and lines. */
struct program {
	struct elffile *ef, *debug;
	struct symtab *symtab;
	struct lines *lines;
};

static void program_open(const char *name, bool want_debug, struct program *ret)
{
	const char *root = getenv("OP_BUILD_ROOT");
	_cleanup_free_ char *path = xasprintf("%s/tests/fixtures/elf/%s", root ? root : ".", name);
	struct error err = ERROR_INIT;

	*ret = (struct program){ .symtab = symtab_new() };
	if (elffile_open(path, &ret->ef, &err) < 0) {
		printf("# %s\n", err.text);
		abort();
	}
	if (want_debug)
		(void)debugfile_open(ret->ef, path, &(const char *){ "" }, 1, &ret->debug);
	(void)elfsym_load(ret->ef, ret->debug, ELFSYM_FILE_OFFSET, ret->symtab);
	symtab_settle(ret->symtab);
	ret->lines = lines_new(ret->ef, ret->debug);
}

static void program_done(struct program *p)
{
	lines_free(p->lines);
	symtab_free(p->symtab);
	elffile_close(p->debug);
	elffile_close(p->ef);
}

static const struct symbol *symbol_called(const struct program *p, const char *name)
{
	size_t i;

	for (i = 0; i < symtab_count(p->symtab); i++)
		if (!strcmp(symtab_at(p->symtab, i)->name, name))
			return symtab_at(p->symtab, i);
	return NULL;
}

static void functions_start_on_their_lines(void)
{
	/* clang gives the line of the name, gcc that of the brace after it. */
	static const struct {
		const char *file, *function, *source;
		unsigned int line;
		bool with_debug_file;
	} rows[] = {
		{ "exe-pie", "main", "main.c", 7, false },
		{ "exe-pie", "marked_first", "marked.c", 20, false },
		{ "exe-fixed", "main", "main.c", 7, false },
		{ "exe-static", "marked_second", "marked.c", 26, false },
		{ "lib.so", "hidden_helper", "marked.c", 15, false },
		{ "lib-stripped.so", "marked_second", "marked.c", 26, true },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(program_done) struct program p = { 0 };
		const struct symbol *sym;
		struct lines_place at;

		program_open(rows[i].file, rows[i].with_debug_file, &p);
		sym = symbol_called(&p, rows[i].function);
		if (!CHECK(sym && lines_find(p.lines, sym->address, &at))) {
			printf("# %s of %s\n", rows[i].function, rows[i].file);
			continue;
		}
		CHECK_STR(path_base(at.file), rows[i].source);
		CHECK(at.line == rows[i].line || at.line == rows[i].line + 1);
	}
}

/* The fixtures are compiled from another directory. */
static void paths_of_sources_are_absolute(void)
{
	_cleanup_(program_done) struct program p = { 0 };
	struct lines_place at;

	program_open("exe-pie", false, &p);
	CHECK(lines_find(p.lines, symbol_called(&p, "main")->address, &at));
	CHECK(path_is_absolute(at.file));
	CHECK(path_stays_below(at.file));
	CHECK(access(at.file, R_OK) == 0);
}

static void addresses_outside_the_code_have_no_line(void)
{
	static const uint64_t addresses[] = { 0, 1, UINT64_MAX, UINT64_MAX / 2 };
	_cleanup_(program_done) struct program p = { 0 };
	struct lines_place at;
	size_t i;

	program_open("exe-pie", false, &p);
	CHECK(lines_exist(p.lines));
	for (i = 0; i < ARRAY_SIZE(addresses); i++)
		CHECK(!lines_find(p.lines, addresses[i], &at));
}

static void a_stripped_file_has_no_lines(void)
{
	_cleanup_(program_done) struct program p = { 0 };
	struct lines_place at;

	program_open("lib-stripped.so", false, &p);
	CHECK(!lines_exist(p.lines));
	CHECK(!lines_find(p.lines, 0x1000, &at));
}

/* libelf unpacks a compressed section in memory, and from then on its header says that it was
 * never compressed. A second reader of the open file (the callers in a report) must not look for
 * it in the file. */
static void compressed_lines_can_be_read_twice(void)
{
	_cleanup_(program_done) struct program p = { 0 };
	_cleanup_(lines_freep) struct lines *again = NULL;
	struct elf_section section;
	struct lines_place one, other;
	uint64_t address;

	program_open("lib-stripped.so", true, &p);
	again = lines_new(p.ef, p.debug);
	address = symbol_called(&p, "marked_second")->address;
	CHECK(elffile_find_section(p.debug, ".debug_line", &section));
	if (!CHECK(lines_find(p.lines, address, &one) && lines_find(again, address, &other)))
		return;
	CHECK_STR(other.file, one.file);
	CHECK_EQ(other.line, one.line);
}

/* mix() of demo.h is inlined into hot() on line 10 of demo.c; in a relocatable file, too, whose
 * debug information is relocated first. */
static void inlined_calls_are_known(void)
{
	static const struct {
		const char *file;
		uint64_t offset; /* from hot() */
		size_t calls;
		const char *source;
		unsigned int line;
	} rows[] = {
		{ "demo.so", 7, 0, "demo.c", 9 },    { "demo.so", 0xb, 1, "demo.h", 4 },
		{ "demo.so", 0x14, 1, "demo.h", 5 }, { "demo.so", 0x22, 0, "demo.c", 16 },
		{ "demo.o", 7, 0, "demo.c", 9 },     { "demo.o", 0xb, 1, "demo.h", 4 },
		{ "demo.o", 0x22, 0, "demo.c", 16 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(program_done) struct program p = { 0 };
		const struct lines_call *calls = NULL;
		struct lines_place at = { "none", 0 };
		uint64_t address;

		program_open(rows[i].file, false, &p);
		address = symbol_called(&p, "hot")->address + rows[i].offset;
		CHECK(lines_find(p.lines, address, &at));
		CHECK_STR(path_base(at.file), rows[i].source);
		CHECK_EQ(at.line, rows[i].line);
		if (!CHECK(lines_inlines(p.lines, address, &calls) == rows[i].calls))
			printf("# %s + %#" PRIx64 "\n", rows[i].file, rows[i].offset);
		if (!calls)
			continue;
		CHECK_STR(calls[0].function, "mix");
		CHECK_STR(calls[0].at.file, "/build/demo/demo.c");
		CHECK_EQ(calls[0].at.line, 10);
	}
}

TESTS(T(inlined_calls_are_known), T(functions_start_on_their_lines),
      T(paths_of_sources_are_absolute), T(addresses_outside_the_code_have_no_line),
      T(a_stripped_file_has_no_lines), T(compressed_lines_can_be_read_twice))
