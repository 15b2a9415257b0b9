/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "dwarf/kept_lines.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "dwarf/lines.h"
#include "file/path.h"
#include "symbol/function_file.h"
#include "symbol/function_store.h"
#include "symbol/functions.h"
#include "symbol/symtab.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static void add(struct kept_lines *l, uint64_t address, const char *file, uint32_t line,
		uint32_t text)
{
	kept_lines_add(l, &(struct kept_code){ address, file, line, text });
}

static void add_some(struct kept_lines *l)
{
	add(l, 0x1000, "/src/a.c", 10, 0x12345678);
	add(l, 0x1004, "/src/a.c", 10, 0x12345678);
	add(l, 0x1008, "/src/b.h", 3, 0);
	add(l, 0x1010, NULL, 0, 0);
	add(l, 0x1010, "/src/a.c", 9, 0xffffffff);
	add(l, 0x1020, NULL, 0, 0);
	add(l, 0xffffffff00000000, "/src/a.c", 4000000000, 1);
}

static void lines_come_back_as_they_were(void)
{
	_cleanup_(kept_lines_done) struct kept_lines l = { 0 }, back = { 0 };
	_cleanup_(strbuf_done) struct strbuf packed = STRBUF_INIT;
	static const struct {
		uint64_t address;
		const char *file; /* NULL: no line */
		uint32_t line, text;
	} rows[] = {
		{ 0xfff, NULL, 0, 0 },
		{ 0x1000, "/src/a.c", 10, 0x12345678 },
		{ 0x1007, "/src/a.c", 10, 0x12345678 },
		{ 0x1008, "/src/b.h", 3, 0 },
		{ 0x101f, "/src/a.c", 9, 0xffffffff },
		{ 0x1020, NULL, 0, 0 },
		{ UINT64_MAX, "/src/a.c", 4000000000, 1 },
	};
	size_t i;

	add_some(&l);
	CHECK_EQ(l.count, 5);
	CHECK_EQ(kept_lines_pack(&l, &packed), 0);
	CHECK_EQ(kept_lines_unpack(packed.text, packed.length, &back), 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct kept_line *at = kept_lines_find(&back, rows[i].address);

		if (!CHECK(!at == !rows[i].file))
			continue;
		CHECK(!at || (!strcmp(back.files[at->file], rows[i].file) &&
			      at->line == rows[i].line && at->text == rows[i].text));
	}
}

static void no_lines_are_a_table_without_rows(void)
{
	_cleanup_(kept_lines_done) struct kept_lines l = { 0 }, back = { 0 };
	_cleanup_(strbuf_done) struct strbuf packed = STRBUF_INIT;

	CHECK_EQ(kept_lines_pack(&l, &packed), 0);
	CHECK_EQ(kept_lines_unpack(packed.text, packed.length, &back), 0);
	CHECK_EQ(back.count, 0);
	CHECK(!kept_lines_find(&back, 0));
	CHECK_EQ(kept_lines_unpack("", 0, &back), -EBADMSG);
}

/* The calls of f() in g() in the code at @address, and of g() alone after that. */
static void add_calls(struct kept_lines *l, uint64_t address)
{
	const struct kept_call calls[] = {
		{ .function = "f", .file = "/src/a.c", .line = 20, .start = address },
		{ .function = "g", .file = NULL, .line = 0, .start = address - 16 },
	};

	kept_lines_add(l, &(struct kept_code){ address, "/src/f.h", 3, 0, calls, 2 });
	kept_lines_add(l, &(struct kept_code){ address + 8, "/src/g.h", 4, 0, calls + 1, 1 });
	kept_lines_add(l, &(struct kept_code){ address + 12, NULL, 0, 0, calls + 1, 1 });
	kept_lines_add(l, &(struct kept_code){ address + 16 });
}

static void inlined_calls_come_back_as_they_were(void)
{
	_cleanup_(kept_lines_done) struct kept_lines l = { 0 }, back = { 0 };
	_cleanup_(strbuf_done) struct strbuf packed = STRBUF_INIT;
	_cleanup_(lines_freep) struct lines *lines = NULL;
	const struct lines_call *calls = NULL;
	struct lines_place at;

	add_calls(&l, 0x1000);
	add_calls(&l, 0x2000);
	CHECK_EQ(l.call_count, 4);
	CHECK_EQ(kept_lines_pack(&l, &packed), 0);
	CHECK_EQ(kept_lines_unpack(packed.text, packed.length, &back), 0);
	lines = lines_new_kept(&back);
	CHECK(lines_exist(lines));
	CHECK(lines_find(lines, 0x2004, &at) && !strcmp(at.file, "/src/f.h") && at.line == 3);
	CHECK_EQ(lines_inlines(lines, 0x2007, &calls), 2);
	CHECK(!strcmp(calls[0].function, "f") && !strcmp(calls[0].at.file, "/src/a.c") &&
	      calls[0].at.line == 20 && calls[0].start == 0x2000);
	CHECK(!strcmp(calls[1].function, "g") && !calls[1].at.file && calls[1].start == 0x1ff0);
	CHECK_EQ(lines_inlines(lines, 0x2008, &calls), 1);
	/* Where the outermost call is, is not known. */
	CHECK(lines_start(lines, 0x2000, &at) && !strcmp(at.file, "/src/f.h") && at.line == 3);
	CHECK(!lines_find(lines, 0x200c, &at));
	CHECK_EQ(lines_inlines(lines, 0x200c, &calls), 1);
	CHECK_EQ(lines_inlines(lines, 0x2010, &calls), 0);
	CHECK(!lines_find(lines, 0xfff, &at));
}

/* Newer lines replace those of the same code; what they lack stays. */
static void lines_are_merged(void)
{
	_cleanup_(kept_lines_done) struct kept_lines old = { 0 }, new = { 0 }, all = { 0 };
	static const struct {
		uint64_t address;
		const char *file;
		uint32_t line, text;
		size_t calls;
	} rows[] = {
		{ 0x0fff, NULL, 0, 0, 0 },	  { 0x1000, "/src/f.h", 3, 0, 2 },
		{ 0x100a, "/src/g.h", 4, 0, 1 },  { 0x1010, NULL, 0, 0, 0 },
		{ 0x1100, "/src/a.c", 5, 55, 0 }, { 0x1108, "/src/a.c", 7, 0, 0 },
		{ 0x1110, NULL, 0, 0, 0 },	  { 0x1200, "/src/b.c", 1, 11, 0 },
	};
	_cleanup_(lines_freep) struct lines *lines = NULL;
	size_t i;

	add_calls(&old, 0x1000);
	add(&old, 0x1100, "/src/a.c", 5, 55);
	add(&old, 0x1108, "/src/a.c", 6, 66);
	add(&old, 0x1110, NULL, 0, 0);
	add(&new, 0x1100, "/src/a.c", 5, 0);
	add(&new, 0x1108, "/src/a.c", 7, 0);
	add(&new, 0x1110, NULL, 0, 0);
	add(&new, 0x1200, "/src/b.c", 1, 11);
	add(&new, 0x1208, NULL, 0, 0);
	kept_lines_merge(&old, &new, &all);
	lines = lines_new_kept(&all);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct lines_call *calls = NULL;
		struct lines_place at = { NULL, 0 };
		bool found = lines_find(lines, rows[i].address, &at);

		if (!CHECK(found == !!rows[i].file && at.line == rows[i].line &&
			   (!found || !strcmp(at.file, rows[i].file)) &&
			   lines_kept_text(lines, rows[i].address) == rows[i].text &&
			   lines_inlines(lines, rows[i].address, &calls) == rows[i].calls))
			printf("# row %zu\n", i);
	}
}

/* Makes the table of a function in @directory; returns its path, which the caller frees. */
static char *make_table(const char *directory)
{
	_cleanup_(function_store_freep) struct function_store *s =
		function_store_new(directory, 1 << 20);
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();
	const struct symbol f = { .name = "f", .offset = 16, .end = 32, .address = 0x1000 };
	char bytes[4096];
	ssize_t n;

	symtab_add(st, &f);
	symtab_settle(st);
	n = functions_pack(st, bytes, sizeof(bytes));
	CHECK(n > 0);
	function_store_put(s, "ab", &(struct function_table){ bytes, (size_t)n, 0 });
	return path_join(directory, "symbols/ab");
}

static void lines_are_kept_with_functions(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_free_ char *path = make_table(directory);
	_cleanup_(kept_lines_done) struct kept_lines l = { 0 }, back = { 0 };
	_cleanup_(symtab_freep) struct symtab *st = NULL;
	unsigned int i;

	CHECK_EQ(function_file_read_lines(path, &back, NULL), -ENODATA);
	add_some(&l);
	for (i = 0; i < 2; i++)
		CHECK_EQ(function_file_add_lines(path, &l, NULL), 0);
	CHECK_EQ(function_file_read_lines(path, &back, NULL), 0);
	CHECK_EQ(back.count, l.count);
	CHECK_EQ(function_file_read(path, "xz", &st, NULL), 0);
	CHECK_EQ(symtab_count(st), 1);
}

/* Puts the line of function @i; returns the result of function_store_put_lines(). */
static int put(struct function_store *s, unsigned int i, bool replaces_last, uint32_t owner)
{
	_cleanup_(kept_lines_done) struct kept_lines l = { 0 };
	_cleanup_(strbuf_done) struct strbuf packed = STRBUF_INIT;
	struct function_table lines = { .owner = owner };

	add(&l, 0x1000 * i, "/src/a.c", i, 0);
	add(&l, 0x1000 * i + 8, NULL, 0, 0);
	CHECK_EQ(kept_lines_pack(&l, &packed), 0);
	lines.bytes = packed.text;
	lines.size = packed.length;
	return function_store_put_lines(s, "ab", replaces_last, &lines);
}

/* Who puts them does not look at them. */
static void lines_are_put_after_others(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_(function_store_freep) struct function_store *s =
		function_store_new(directory, 1 << 20);
	_cleanup_free_ char *path = NULL;
	unsigned int i;

	CHECK_EQ(put(s, 1, false, 0), -ENOENT);
	path = make_table(directory);
	CHECK_EQ(put(s, 1, false, 1), -EPERM);
	CHECK_EQ(put(s, 1, false, 0), 0);
	CHECK_EQ(put(s, 2, false, 0), 0);
	CHECK_EQ(put(s, 3, true, 0), 0);
	for (i = 0; i < 8; i++) {
		_cleanup_(kept_lines_done) struct kept_lines back = { 0 };
		/* The oldest go first when there are more than eight. */
		const bool has_first = i < 7;

		CHECK_EQ(function_file_read_lines(path, &back, NULL), 0);
		CHECK(!kept_lines_find(&back, 0x1000) == !has_first);
		CHECK(!kept_lines_find(&back, 0x2000));
		CHECK(kept_lines_find(&back, 0x3000));
		CHECK_EQ(put(s, 4 + i, false, 0), 0);
	}
}

/* Whatever byte of the lines is wrong, the file is refused as a whole. */
static void damage_of_lines_is_found(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_free_ char *path = make_table(directory);
	_cleanup_(kept_lines_done) struct kept_lines l = { 0 }, back = { 0 };
	struct stat without, with;
	off_t at;

	CHECK_EQ(stat(path, &without), 0);
	add_calls(&l, 0x1000);
	CHECK_EQ(function_file_add_lines(path, &l, NULL), 0);
	CHECK_EQ(stat(path, &with), 0);
	for (at = without.st_size; at < with.st_size; at++) {
		_cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC);
		uint8_t byte = 0, wrong;

		CHECK_EQ(pread(fd, &byte, 1, at), 1);
		wrong = byte ^ 0x10;
		CHECK_EQ(pwrite(fd, &wrong, 1, at), 1);
		if (!CHECK(function_file_read_lines(path, &back, NULL) == -EBADMSG))
			break;
		CHECK_EQ(pwrite(fd, &byte, 1, at), 1);
	}
	for (at = with.st_size; --at > without.st_size;) {
		CHECK_EQ(truncate(path, at), 0);
		if (!CHECK(function_file_read_lines(path, &back, NULL) == -EBADMSG))
			break;
	}
}

TESTS(T(lines_come_back_as_they_were), T(inlined_calls_come_back_as_they_were), T(lines_are_merged),
      T(no_lines_are_a_table_without_rows), T(lines_are_kept_with_functions),
      T(lines_are_put_after_others), T(damage_of_lines_is_found))
