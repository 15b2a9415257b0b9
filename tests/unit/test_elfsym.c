/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects of several machines, out of tests/fixtures/elf/symbols.S. */
#include "test.h"

#include "symbol/elfsym.h"

#include <errno.h>
#include <libelf.h>

/* One of the objects, with the symbols that its table has and those that we take. */
struct object {
	struct elffile *ef;
	struct symtab *st;
};

static void object_done(struct object *o)
{
	symtab_free(o->st);
	elffile_close(o->ef);
}
#define _cleanup_object_ _cleanup_(object_done)

/* False where the object was not built. */
static bool open_object(const char *machine, struct object *ret)
{
	const char *build = getenv("OP_BUILD_ROOT");
	_cleanup_free_ char *path =
		xasprintf("%s/tests/fixtures/elf/symbols-%s.o", build ? build : ".", machine);
	struct error err = ERROR_INIT;

	if (elffile_open(path, &ret->ef, &err) < 0) {
		CHECK_EQ(err.code, -ENOENT);
		return false;
	}
	ret->st = symtab_new();
	CHECK(elfsym_load(ret->ef, NULL, ELFSYM_FILE_OFFSET, ret->st) > 0);
	symtab_settle(ret->st);
	return true;
}

/* How many symbols in the file have names that start with @start. */
static size_t count_names(const struct elffile *ef, const char *start)
{
	size_t found = 0, i;
	struct elf_section table;
	const Elf_Data *data;
	GElf_Sym sym;

	if (!elffile_find_section(ef, ".symtab", &table) || !(data = elffile_data(&table)))
		return 0;
	for (i = 1; gelf_getsym((Elf_Data *)data, (int)i, &sym); i++) {
		const char *name = elf_strptr(elffile_elf(ef), table.header.sh_link, sym.st_name);

		found += name && !strncmp(name, start, strlen(start));
	}
	return found;
}

static const char *name_at(const struct symtab *st, uint64_t offset)
{
	const struct symbol *sym = symtab_find(st, offset);

	return sym ? sym->name : "none";
}

/* Both functions are whole, with and without size, and nothing has a name that is no function's. */
static void check_functions(const struct object *o)
{
	static const char *const names[] = { "sized",	  "bare",      "chosen",
					     "unaliased", "$f:leaf/2", "thumb" };
	const struct symbol *bare;
	size_t i;

	CHECK_STR(name_at(o->st, 0), "sized");
	for (i = 0; i < symtab_count(o->st); i++) {
		const struct symbol *sym = symtab_at(o->st, i);

		CHECK_STR(sym->name, i < ARRAY_SIZE(names) ? names[i] : "none");
		CHECK_EQ(sym->whole, i);
	}
	bare = symtab_at(o->st, 1);
	CHECK_EQ(bare->offset, symtab_at(o->st, 0)->end);
	CHECK_EQ(bare->end, symtab_at(o->st, 2)->offset);
}

static void mapping_symbols_of_aarch64_are_none(void)
{
	_cleanup_object_ struct object o = { 0 };

	if (!open_object("aarch64", &o))
		SKIP("no assembler for it");
	CHECK(count_names(o.ef, "$x") >= 3 && count_names(o.ef, "$d") >= 2);
	CHECK_EQ(symtab_count(o.st), 5);
	check_functions(&o);
}

static void mapping_symbols_of_arm_are_none(void)
{
	_cleanup_object_ struct object o = { 0 };

	if (!open_object("arm", &o))
		SKIP("no assembler for it");
	CHECK(count_names(o.ef, "$a") >= 3 && count_names(o.ef, "$d") >= 2);
	CHECK(count_names(o.ef, "$t") >= 1);
	CHECK_EQ(symtab_count(o.st), 6);
	check_functions(&o);
}

static void mapping_symbols_of_riscv_are_none(void)
{
	_cleanup_object_ struct object o = { 0 };

	if (!open_object("riscv64", &o))
		SKIP("no assembler for it");
	CHECK(count_names(o.ef, "$x") >= 3 && count_names(o.ef, "$d") >= 2);
	CHECK_EQ(symtab_count(o.st), 5);
	check_functions(&o);
}

/* The lowest bit of a Thumb function's address says what it is made of, not where. */
static void thumb_functions_start_at_their_first_byte(void)
{
	_cleanup_object_ struct object o = { 0 };
	const struct symbol *thumb;

	if (!open_object("arm", &o))
		SKIP("no assembler for it");
	thumb = symtab_at(o.st, symtab_count(o.st) - 1);
	CHECK_STR(thumb->name, "thumb");
	CHECK_EQ(thumb->offset % 4, 0);
	CHECK_EQ(thumb->end - thumb->offset, 4);
	CHECK_STR(name_at(o.st, thumb->offset), "thumb");
}

/* An indirect function is the code that chooses: all that runs under its address. */
static void indirect_functions_have_names(void)
{
	static const char *const machines[] = { "x86_64", "aarch64", "arm", "riscv64" };
	size_t i, opened = 0;

	for (i = 0; i < ARRAY_SIZE(machines); i++) {
		_cleanup_object_ struct object o = { 0 };

		if (!open_object(machines[i], &o))
			continue;
		printf("# %s\n", machines[i]);
		opened++;
		CHECK_EQ(count_names(o.ef, "choose"), 1);
		/* Seen from outside, unlike the name of the function that it is an alias of. */
		CHECK_STR(symtab_at(o.st, 2)->name, "chosen");
		CHECK_STR(symtab_at(o.st, 3)->name, "unaliased");
		CHECK_EQ(symtab_at(o.st, 3)->offset, symtab_at(o.st, 2)->end);
	}
	if (!opened)
		SKIP("no assembler");
}

TESTS(T(mapping_symbols_of_aarch64_are_none), T(mapping_symbols_of_arm_are_none),
      T(mapping_symbols_of_riscv_are_none), T(thumb_functions_start_at_their_first_byte),
      T(indirect_functions_have_names))
