/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Go's table of functions, in all its layouts: tests/fixtures/cfi/go.S. */
#include "test.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "dwarf/lines.h"
#include "elf/elffile.h"
#include "gosym/gosym.h"
#include "symbol/elfcode.h"

#ifdef __x86_64__
#define NEED_FIXTURE() ((void)0)
#else
#define NEED_FIXTURE() TEST_SKIP("the fixture is of x86-64")
#endif

struct program {
	struct elffile *ef;
	struct gosym *go;
};

static void close_program(struct program *p)
{
	gosym_free(p->go);
	elffile_close(p->ef);
}

static const struct fixture {
	const char *name;
	bool has_calls;
} fixtures[] = {
	{ "go2", false }, { "go16", false },	{ "go18", true },
	{ "go20", true }, { "libgo.so", true },
};

static struct elffile *open_fixture(const char *name)
{
	_cleanup_free_ char *directory = path_join(getenv("OP_BUILD_ROOT"), "tests/fixtures/cfi");
	_cleanup_free_ char *path = path_join(directory, name);
	struct elffile *ef = NULL;

	printf("# %s\n", name);
	CHECK_EQ(elffile_open(path, &ef, NULL), 0);
	return ef;
}

static bool open_program(struct program *p, const char *name)
{
	p->ef = open_fixture(name);
	p->go = p->ef ? gosym_new(p->ef) : NULL;
	return CHECK(p->go);
}

static void functions_have_names_and_extents(void)
{
	static const char *const names[] = {
		"runtime.goexit",
		"runtime.mcall",
		"runtime.mcaller",
		"runtime.systemstack",
		"runtime.systemstack_switch",
		"runtime.sigreturn",
		"main.(*T).Method",
		"time.now",
	};
	size_t i, k;

	NEED_FIXTURE();
	for (k = 0; k < ARRAY_SIZE(fixtures); k++) {
		_cleanup_(close_program) struct program p = { NULL };
		struct gosym_function fn;

		if (!open_program(&p, fixtures[k].name))
			continue;
		CHECK_EQ(gosym_count(p.go), ARRAY_SIZE(names));
		for (i = 0; i < gosym_count(p.go); i++) {
			CHECK(gosym_at(p.go, i, &fn));
			CHECK_STR(fn.name, names[i]);
			CHECK_EQ(fn.end - fn.start, 32);
			CHECK_EQ(gosym_find(p.go, fn.start), i);
			CHECK_EQ(gosym_find(p.go, fn.end - 1), i);
		}
		CHECK_EQ(gosym_find(p.go, fn.end), i);
		CHECK(gosym_at(p.go, 0, &fn));
		CHECK_EQ(gosym_find(p.go, fn.start - 1), i);
	}
}

static void stack_movements_have_ranges(void)
{
	static const struct {
		uint64_t bytes;
		int32_t value;
	} expected[] = { { 4, 0 }, { 24, 24 }, { 4, 0 } };
	size_t i, k;

	NEED_FIXTURE();
	for (k = 0; k < ARRAY_SIZE(fixtures); k++) {
		_cleanup_(close_program) struct program p = { NULL };
		struct gosym_function fn;
		struct gosym_range r;

		if (!open_program(&p, fixtures[k].name) || !CHECK(gosym_at(p.go, 6, &fn)))
			continue;
		r = gosym_stack(p.go, &fn);
		for (i = 0; gosym_next(p.go, &r) && i < ARRAY_SIZE(expected); i++) {
			CHECK_EQ(r.end - r.start, expected[i].bytes);
			CHECK_EQ(r.value, expected[i].value);
		}
		CHECK_EQ(i, ARRAY_SIZE(expected));
		CHECK_EQ(r.end, fn.end);
	}
}

/* "file:line", and for each inlined call " function<line of the call" */
static char *describe(struct lines *lines, uint64_t address)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	const struct lines_call *calls;
	struct lines_place at;
	size_t i, n;

	if (lines_find(lines, address, &at))
		strbuf_addf(&text, "%s:%u", at.file, at.line);
	n = lines_inlines(lines, address, &calls);
	for (i = 0; i < n; i++)
		strbuf_addf(&text, " %s<%u", calls[i].function, calls[i].at.line);
	return strbuf_take(&text);
}

static void lines_and_inlined_calls_need_no_debug_information(void)
{
	static const struct {
		uint64_t offset;
		const char *line, *calls;
	} rows[] = {
		{ 0, "/src/t/main.go:10", "" },
		{ 7, "/src/t/main.go:10", "" },
		{ 8, "/src/t/main.go:100", " main.outer<10" },
		{ 12, "/src/t/main.go:100", " main.inner[...]<100 main.outer<10" },
		{ 16, "/src/t/main.go:12", "" },
		{ 31, "/src/t/main.go:12", "" },
	};
	size_t i, k;

	NEED_FIXTURE();
	for (k = 0; k < ARRAY_SIZE(fixtures); k++) {
		_cleanup_(close_program) struct program p = { NULL };
		_cleanup_(lines_freep) struct lines *lines = NULL;
		struct gosym_function fn;

		if (!open_program(&p, fixtures[k].name) || !CHECK(gosym_at(p.go, 6, &fn)))
			continue;
		lines = lines_new(p.ef, NULL);
		CHECK(lines_exist(lines));
		for (i = 0; i < ARRAY_SIZE(rows); i++) {
			_cleanup_free_ char *found = describe(lines, fn.start + rows[i].offset);
			_cleanup_free_ char *expected = xasprintf(
				"%s%s", rows[i].line, fixtures[k].has_calls ? rows[i].calls : "");

			CHECK_STR(found, expected);
		}
	}
}

/* The symbol table has "runtime.goexit.abi0" and "main.method". */
static void the_table_has_priority_over_symbols(void)
{
	static const char *const names[] = { "runtime.goexit", "main.(*T).Method" };
	size_t i, k;

	NEED_FIXTURE();
	for (k = 0; k < ARRAY_SIZE(fixtures); k++) {
		struct elffile *ef = open_fixture(fixtures[k].name);
		_cleanup_(symtab_freep) struct symtab *st =
			ef ? elfcode_symbols(ef, NULL, "go") : NULL;
		size_t found = 0;

		for (i = 0; st && i < symtab_count(st); i++) {
			const char *name = symtab_at(st, i)->name;

			found += !strcmp(name, names[0]) + !strcmp(name, names[1]);
			CHECK(!strstr(name, "abi0") && strcmp(name, "main.method"));
		}
		CHECK_EQ(found, 2);
	}
}

static void other_files_have_none(void)
{
	_cleanup_(close_program) struct program p = { .ef = open_fixture("libplt.so") };

	NEED_FIXTURE();
	CHECK(!gosym_new(p.ef));
}

TESTS(T(functions_have_names_and_extents), T(stack_movements_have_ranges),
      T(lines_and_inlined_calls_need_no_debug_information), T(the_table_has_priority_over_symbols),
      T(other_files_have_none))
