/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "elf/debugfile.h"
#include "symbol/demangle.h"
#include "symbol/elfcode.h"
#include "symbol/elfsym.h"
#include "symbol/symtab.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A symbol of so many bytes (0: unknown), which ends at 1000 at the latest. */
static void add(struct symtab *st, const char *name, uint64_t offset, uint64_t size,
		unsigned int rank)
{
	symtab_add(st, &(struct symbol){ .name = name,
					 .offset = offset,
					 .end = offset + size,
					 .limit = 1000,
					 .address = offset + 4096,
					 .rank = rank });
}

static const char *name_at(const struct symtab *st, uint64_t offset)
{
	const struct symbol *sym = symtab_find(st, offset);

	return sym ? sym->name : "none";
}

static void symbols_hold_their_bytes_and_no_more(void)
{
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();

	add(st, "second", 200, 50, 0);
	add(st, "first", 100, 10, 0);
	symtab_settle(st);
	CHECK_STR(name_at(st, 99), "none");
	CHECK_STR(name_at(st, 100), "first");
	CHECK_STR(name_at(st, 109), "first");
	CHECK_STR(name_at(st, 110), "none");
	CHECK_STR(name_at(st, 200), "second");
	CHECK_STR(name_at(st, 249), "second");
	CHECK_STR(name_at(st, 250), "none");
	CHECK_EQ(symtab_find(st, 200)->address, 4296);
}

static void an_empty_table_finds_nothing(void)
{
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();

	symtab_settle(st);
	CHECK(!symtab_find(st, 0));
	CHECK_EQ(symtab_seek(st, 0, 7), 0);
}

static void of_aliases_the_best_name_stays(void)
{
	static const struct {
		struct {
			const char *name;
			uint64_t size;
			unsigned int rank;
		} a, b;
		const char *stays;
	} rows[] = {
		{ { "local", 8, SYMBOL_LOCAL }, { "_visible", 8, 0 }, "_visible" },
		{ { "_brk", 8, 0 }, { "brk", 8, SYMBOL_WEAK }, "brk" },
		{ { "weak", 8, SYMBOL_WEAK }, { "strong", 8, 0 }, "strong" },
		{ { "sizeless", 0, 0 }, { "sized", 8, 0 }, "sized" },
		{ { "one", 8, 0 }, { "other", 8, 0 }, "one" },
		{ { "f@plt", 8, SYMBOL_SYNTHETIC }, { "_f", 8, SYMBOL_LOCAL }, "_f" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(symtab_freep) struct symtab *st = symtab_new();

		add(st, rows[i].a.name, 16, rows[i].a.size, rows[i].a.rank);
		add(st, rows[i].b.name, 16, rows[i].b.size, rows[i].b.rank);
		symtab_settle(st);
		CHECK_EQ(symtab_count(st), 1);
		CHECK_STR(name_at(st, 23), rows[i].stays);
	}
}

static void sizeless_symbols_reach_to_the_next(void)
{
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();

	add(st, "entry", 0, 0, 0);
	add(st, "next", 100, 0, 0);
	symtab_settle(st);
	CHECK_STR(name_at(st, 99), "entry");
	CHECK_STR(name_at(st, 100), "next");
	CHECK_STR(name_at(st, 999), "next");
	CHECK_STR(name_at(st, 1000), "none");
}

static void labels_inside_functions_are_not_symbols(void)
{
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();

	add(st, "function", 0, 100, 0);
	add(st, "label", 50, 0, 0);
	symtab_settle(st);
	CHECK_EQ(symtab_count(st), 1);
	CHECK_STR(name_at(st, 60), "function");
}

static void a_symbol_inside_another_cuts_it_in_pieces(void)
{
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();

	add(st, "outer", 0, 100, 0);
	add(st, "inner", 40, 20, 0);
	add(st, "innermost", 45, 5, 0);
	add(st, "across", 90, 30, 0);
	symtab_settle(st);
	CHECK_EQ(symtab_count(st), 6);
	CHECK_STR(name_at(st, 39), "outer");
	CHECK_STR(name_at(st, 40), "inner");
	CHECK_STR(name_at(st, 47), "innermost");
	CHECK_STR(name_at(st, 50), "inner");
	CHECK_STR(name_at(st, 60), "outer");
	CHECK_STR(name_at(st, 119), "across");
	CHECK_STR(name_at(st, 120), "none");
	CHECK_EQ(symtab_find(st, 60)->whole, 0);
	CHECK_EQ(symtab_find(st, 50)->whole, symtab_find(st, 40)->whole);
}

static void seeking_from_anywhere_finds_the_same(void)
{
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();
	uint64_t i, from;

	for (i = 0; i < 300; i++)
		add(st, "f", i * 10, 5, 0);
	symtab_settle(st);
	for (from = 0; from < 300; from += 7)
		for (i = from * 10; i < 3000; i += 3)
			CHECK_EQ(symtab_seek(st, from, i), symtab_seek(st, 0, i));
	CHECK_EQ(symtab_seek(st, 0, 2995), 300);
}

static void names_are_demangled(void)
{
	static const struct {
		const char *name, *text;
	} rows[] = {
		{ "main", NULL },
		{ "_start", NULL },
		{ "_Z3foov", "foo()" },
		{ "_ZN3geo3dotIdEET_RKS1_", "double geo::dot<double>(double const&)" },
		{ "_Z3foov@plt", "foo()@plt" },
		{ "_Z3foov.isra.0", "foo() [clone .isra.0]" },
		{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
		  "core::fmt::Write::write_fmt" },
		{ "_RNvC6_123foo3bar", "123foo::bar" },
		{ "_Zbroken", NULL },
		{ "_Dmain", "D main" },
		{ "_D8demangle4testFZv", "demangle.test()" },
		{ "_D3std5stdio7writelnFNfAyaZv@plt", "std.stdio.writeln(immutable(char)[])@plt" },
		{ "_D1aFHiiHQeQgZv", "a(int[int], int[int][int[int]])" },
		{ "_D1aFHiiHQeQgHQhQjHQiQkHQiQkHQiQkHQiQkHQiQkHQiQkHQiQkZv", NULL },
		{ "_D4", NULL },
		{ "_DYNAMIC", NULL },
		{ "LMain;run()V", "void Main.run()" },
		{ "Lpkg/Cls;get(I[J)Z", "boolean pkg.Cls.get(int, long[])" },
		{ "Ljava/lang/String;<init>([CLjava/lang/Object;)V",
		  "void java.lang.String.<init>(char[], java.lang.Object)" },
		{ "LA;f()[[Ljava/util/Map;", "java.util.Map[][] A.f()" },
		{ "LA$B;f(BCDFJSZ)I",
		  "int A$B.f(byte, char, double, float, long, short, boolean)" },
		{ "LA;f(", NULL },
		{ "LA;f()", NULL },
		{ "LA;f(Q)V", NULL },
		{ "LA;f()VV", NULL },
		{ "L;f()V", NULL },
		{ "List", NULL },
		{ "gopkg.in/yaml%2ev3.(*Node).Decode", "gopkg.in/yaml.v3.(*Node).Decode" },
		{ "a.b/c%2e%2ed.F%2", "a.b/c..d.F%2" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text = demangle(rows[i].name);

		if (text || rows[i].text)
			CHECK_STR(text, rows[i].text);
	}
}

/* The path of an ELF file that the build made for these tests; caller frees. */
static char *fixture(const char *name)
{
	const char *build = getenv("OP_BUILD_ROOT");

	return xasprintf("%s/tests/fixtures/elf/%s", build ? build : ".", name);
}

static struct symtab *load(const char *name, struct elffile **ret_file, bool with_debug)
{
	_cleanup_(elffile_closep) struct elffile *debug = NULL;
	_cleanup_free_ char *path = fixture(name);
	static const char *const roots[] = { "" };
	struct error err = ERROR_INIT;
	struct symtab *st;

	if (elffile_open(path, ret_file, &err) < 0) {
		printf("# %s\n", err.text);
		return NULL;
	}
	st = symtab_new();
	if (with_debug && debugfile_open(*ret_file, path, roots, 1, &debug) < 0)
		printf("# %s: no debug file\n", path);
	elfsym_load(*ret_file, debug, ELFSYM_FILE_OFFSET, st);
	elfsym_load_plt(*ret_file, st);
	if (debug)
		symtab_hold(st, STEAL(debug), elfsym_release);
	symtab_settle(st);
	return st;
}

static const struct symbol *find_name(const struct symtab *st, const char *name)
{
	size_t i;

	for (i = 0; i < symtab_count(st); i++)
		if (!strcmp(symtab_at(st, i)->name, name))
			return symtab_at(st, i);
	return NULL;
}

/* Whether the function's own constant is near @offset of the file. */
static bool marker_follows(const char *file, uint64_t offset, uint32_t marker)
{
	_cleanup_free_ char *path = fixture(file);
	_cleanup_fclose_ FILE *f = path_fopen(NULL, path);
	uint8_t code[32];
	size_t i;

	if (!f || fseek(f, (long)offset, SEEK_SET) < 0 || fread(code, sizeof(code), 1, f) != 1)
		return false;
	for (i = 0; i + 4 <= sizeof(code); i++)
		if (!memcmp(code + i, &marker, 4))
			return true;
	return false;
}

static void symbols_are_where_their_code_is(void)
{
	static const char *const files[] = { "exe-pie", "exe-static", "exe-fixed", "lib.so" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_(elffile_closep) struct elffile *ef = NULL;
		_cleanup_(symtab_freep) struct symtab *st = load(files[i], &ef, false);
		const struct symbol *first = st ? find_name(st, "marked_first") : NULL;
		const struct symbol *second = st ? find_name(st, "marked_second") : NULL;

		printf("# %s\n", files[i]);
		if (!CHECK(first && second))
			continue;
		CHECK(marker_follows(files[i], first->offset, 0x11223344));
		CHECK(marker_follows(files[i], second->offset, 0x55667788));
		CHECK(symtab_find(st, first->end - 1) == first);
	}
}

static void kernel_symbols_count_from_its_start(void)
{
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	_cleanup_free_ char *path = fixture("exe-fixed");
	const struct symbol *first;
	struct elf_section text;

	if (!CHECK(elffile_open(path, &ef, NULL) == 0 && elffile_find_section(ef, ".text", &text)))
		return;
	CHECK(elfsym_load(ef, NULL, ELFSYM_FROM_TEXT, st) > 0);
	symtab_settle(st);
	first = find_name(st, "marked_first");
	if (CHECK(first))
		CHECK_EQ(first->offset, first->address - text.header.sh_addr);
}

static void a_stripped_library_has_its_dynamic_symbols(void)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	_cleanup_(symtab_freep) struct symtab *st = load("lib-stripped.so", &ef, false);

	if (!CHECK(st))
		return;
	CHECK(find_name(st, "marked_first"));
	CHECK(!find_name(st, "hidden_helper"));
}

static void code_without_symbols_is_named_by_its_place(void)
{
	_cleanup_(elffile_closep) struct elffile *plain = NULL, *ef = NULL;
	_cleanup_(symtab_freep) struct symtab *whole = load("lib.so", &plain, false);
	_cleanup_(symtab_freep) struct symtab *st = load("lib-stripped.so", &ef, false);
	const struct symbol *helper = whole ? find_name(whole, "hidden_helper") : NULL;
	const struct symbol *first = st ? find_name(st, "marked_first") : NULL, *found;
	_cleanup_(elfcode_freep) struct elfcode *code = NULL;
	_cleanup_free_ char *name = NULL;
	uint64_t at;
	size_t i;

	if (!CHECK(helper && first))
		return;
	at = first->offset;
	CHECK(!symtab_find(st, helper->offset));
	code = elfcode_new(ef);
	CHECK(elfcode_fill(code, "lib", NULL, st) > 0);
	/* Its call frame information says where it starts. */
	name = xasprintf("[lib+0x%jx]", (uintmax_t)helper->address);
	found = symtab_find(st, helper->offset);
	if (CHECK(found)) {
		CHECK_STR(found->name, name);
		CHECK(elfcode_is_name(found->name));
		CHECK(found->end >= helper->end);
	}
	CHECK_STR(symtab_find(st, at)->name, "marked_first");
	CHECK(!elfcode_is_name("marked_first") && !elfcode_is_name("[x+0x]y") &&
	      !elfcode_is_name("[vdso]"));
	for (i = 0; i < symtab_count(st); i++)
		if (!CHECK(symtab_at(st, symtab_at(st, i)->whole)->whole ==
				   symtab_at(st, i)->whole &&
			   (!i || symtab_at(st, i)->offset >= symtab_at(st, i - 1)->end)))
			return;
	CHECK_EQ(elfcode_fill(code, "lib", NULL, st), 0);
}

/* The file is there if the compiler makes 32-bit ones. */
static void code_of_32_bits_is_named_by_its_place_too(void)
{
	_cleanup_free_ char *path = fixture("pieces-32.so");
	_cleanup_(symtab_freep) struct symtab *st = NULL;
	const struct symbol *first, *second, *third;
	struct elffile *ef;

	if (access(path, R_OK) < 0 || !CHECK(elffile_open(path, &ef, NULL) == 0))
		return;
	st = elfcode_symbols(ef, NULL, "pieces");
	first = find_name(st, "first");
	if (!CHECK(first))
		return;
	second = symtab_find(st, first->offset + 40);
	third = symtab_find(st, first->offset + 72);
	CHECK(second && elfcode_is_name(second->name) && second->address == first->address + 32);
	CHECK(third && elfcode_is_name(third->name) && third->address == first->address + 64);
}

/* As tests/fixtures/elf/objects.s has them, in steps of 16 bytes. */
static void objects_in_code_name_what_no_function_does(void)
{
	static const char *const names[] = {
		"plain",	  "plain",  "[",      "[",	"Main_work_info",
		"Main_work_info", "around", "around", "inside", "inside",
		"around",	  "around", "[",      "["
	};
	_cleanup_free_ char *path = fixture("objects.so");
	_cleanup_(symtab_freep) struct symtab *st = NULL;
	struct error err = ERROR_INIT;
	const struct symbol *plain;
	struct elffile *ef;
	size_t i;

	if (!CHECK(elffile_open(path, &ef, &err) == 0))
		return;
	st = elfcode_symbols(ef, NULL, "objects.so");
	plain = find_name(st, "plain");
	for (i = 0; plain && i < ARRAY_SIZE(names); i++) {
		const struct symbol *s = symtab_find(st, plain->offset + 16 * i);

		CHECK(s && !strncmp(s->name, names[i], strlen(names[i])));
		CHECK_EQ(s->address - s->offset, plain->address - plain->offset);
	}
	CHECK(plain && !find_name(st, "label") && !find_name(st, "variable") &&
	      !find_name(st, "constants"));
}

static void the_debug_file_names_what_was_stripped(void)
{
	static const char *const files[] = { "lib-stripped.so", "lib-crc.so" };
	_cleanup_(elffile_closep) struct elffile *plain = NULL;
	_cleanup_(symtab_freep) struct symtab *whole = load("lib.so", &plain, false);
	const struct symbol *b = whole ? find_name(whole, "hidden_helper") : NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_(elffile_closep) struct elffile *ef = NULL;
		_cleanup_(symtab_freep) struct symtab *st = load(files[i], &ef, true);
		const struct symbol *a = st ? find_name(st, "hidden_helper") : NULL;

		if (CHECK(a && b))
			CHECK_EQ(a->end - a->offset, b->end - b->offset);
	}
}

static void a_debug_file_of_another_binary_is_not_taken(void)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL, *debug = NULL;
	_cleanup_free_ char *path = fixture("lib-wrong.so");
	static const char *const roots[] = { "" };
	struct error err = ERROR_INIT;

	if (!CHECK(elffile_open(path, &ef, &err) == 0))
		return;
	CHECK_EQ(debugfile_open(ef, path, roots, 1, &debug), -ENOENT);
}

static void plt_entries_have_names(void)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	_cleanup_(symtab_freep) struct symtab *st = load("exe-pie", &ef, false);

	if (!CHECK(st))
		return;
	if (elffile_header(ef)->e_machine != EM_X86_64)
		SKIP("PLT names are made for x86-64 only");
	CHECK(find_name(st, "puts@plt"));
}

static void what_is_no_elf_file_is_said_so(void)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	struct error err = ERROR_INIT;
	char bytes[] = "#!/bin/sh\n";

	CHECK_EQ(elffile_open("/dev/null", &ef, &err), -EMEDIUMTYPE);
	CHECK_EQ(elffile_open("/nonexistent", &ef, &err), -ENOENT);
	CHECK(strstr(err.text, "/nonexistent"));
	CHECK_EQ(elffile_open_memory(bytes, sizeof(bytes), "script", &ef, &err), -EBADMSG);
}

/* libdw never comes to the end of this. */
/* Makes the tables of strings in the ELF file @bytes compressed ones of @size bytes. */
static void pack_strings(char *bytes, uint64_t size)
{
	Elf64_Ehdr header;
	Elf64_Shdr section;
	size_t i, at;

	memcpy(&header, bytes, sizeof(header));
	for (i = 0; i < header.e_shnum; i++) {
		at = header.e_shoff + i * sizeof(section);
		memcpy(&section, bytes + at, sizeof(section));
		if (section.sh_type != SHT_STRTAB || section.sh_flags & SHF_ALLOC)
			continue;
		section.sh_flags |= SHF_COMPRESSED;
		memcpy(bytes + at, &section, sizeof(section));
		memcpy(bytes + section.sh_offset,
		       &(Elf64_Chdr){
			       .ch_type = ELFCOMPRESS_ZLIB, .ch_size = size, .ch_addralign = 1 },
		       sizeof(Elf64_Chdr));
	}
}

static void strings_that_claim_to_be_huge_are_refused(void)
{
	_cleanup_free_ char *path = fixture("demo.so"), *bytes = NULL;
	struct error err = ERROR_INIT;
	struct elffile *ef = NULL;
	ssize_t size = path_read(NULL, path, &bytes, &err);

	if (!CHECK(size > 0))
		return;
	pack_strings(bytes, (uint64_t)1 << 62);
	CHECK_EQ(elffile_open_memory(bytes, (size_t)size, "huge", &ef, &err), -EBADMSG);
	CHECK(strstr(err.text, "huge: a table of strings would unpack to"));
	/* Others are only damaged. */
	pack_strings(bytes, 4096);
	CHECK_EQ(elffile_open_memory(bytes, (size_t)size, "small", &ef, &err), 0);
	elffile_close(ef);
}

static void bzip2_is_no_elf_file(void)
{
	static const char start[] = "BZh91AY&SY";
	struct error err = ERROR_INIT;
	struct elffile *ef = NULL;
	int fd = memfd_create("bzip2", MFD_CLOEXEC);

	CHECK_EQ(write(fd, start, strlen(start)), (ssize_t)strlen(start));
	CHECK_EQ(elffile_open_fd(fd, "bzip2", &ef, &err), -EBADMSG);
	CHECK_STR(err.text, "bzip2: not an ELF file");
}

static void the_crc_is_that_of_debuglink(void)
{
	CHECK_EQ(debugfile_crc(0, "123456789", 9), 0xcbf43926);
}

TESTS(T(symbols_hold_their_bytes_and_no_more), T(an_empty_table_finds_nothing),
      T(of_aliases_the_best_name_stays), T(sizeless_symbols_reach_to_the_next),
      T(labels_inside_functions_are_not_symbols), T(a_symbol_inside_another_cuts_it_in_pieces),
      T(seeking_from_anywhere_finds_the_same), T(names_are_demangled),
      T(symbols_are_where_their_code_is), T(kernel_symbols_count_from_its_start),
      T(a_stripped_library_has_its_dynamic_symbols), T(code_without_symbols_is_named_by_its_place),
      T(code_of_32_bits_is_named_by_its_place_too), T(objects_in_code_name_what_no_function_does),
      T(the_debug_file_names_what_was_stripped), T(a_debug_file_of_another_binary_is_not_taken),
      T(plt_entries_have_names), T(what_is_no_elf_file_is_said_so), T(bzip2_is_no_elf_file),
      T(strings_that_claim_to_be_huge_are_refused), T(the_crc_is_that_of_debuglink))
