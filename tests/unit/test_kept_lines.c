/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/kept_lines.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "symbol/function_store.h"
#include "symbol/functions.h"
#include "symbol/symtab.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static void add_some(struct kept_lines *l)
{
	kept_lines_add(l, 0x1000, "/src/a.c", 10, 0x12345678);
	kept_lines_add(l, 0x1004, "/src/a.c", 10, 0x12345678);
	kept_lines_add(l, 0x1008, "/src/b.h", 3, 0);
	kept_lines_add(l, 0x1010, NULL, 0, 0);
	kept_lines_add(l, 0x1010, "/src/a.c", 9, 0xffffffff);
	kept_lines_add(l, 0x1020, NULL, 0, 0);
	kept_lines_add(l, 0xffffffff00000000, "/src/a.c", 4000000000, 1);
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

	CHECK_EQ(function_store_read_lines(path, &back, NULL), -ENODATA);
	add_some(&l);
	for (i = 0; i < 2; i++)
		CHECK_EQ(function_store_add_lines(path, &l, NULL), 0);
	CHECK_EQ(function_store_read_lines(path, &back, NULL), 0);
	CHECK_EQ(back.count, l.count);
	CHECK_EQ(function_store_read(path, "xz", &st, NULL), 0);
	CHECK_EQ(symtab_count(st), 1);
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
	add_some(&l);
	CHECK_EQ(function_store_add_lines(path, &l, NULL), 0);
	CHECK_EQ(stat(path, &with), 0);
	for (at = without.st_size; at < with.st_size; at++) {
		_cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC);
		uint8_t byte = 0, wrong;

		CHECK_EQ(pread(fd, &byte, 1, at), 1);
		wrong = byte ^ 0x10;
		CHECK_EQ(pwrite(fd, &wrong, 1, at), 1);
		if (!CHECK(function_store_read_lines(path, &back, NULL) == -EBADMSG))
			break;
		CHECK_EQ(pwrite(fd, &byte, 1, at), 1);
	}
	for (at = with.st_size; --at > without.st_size;) {
		CHECK_EQ(truncate(path, at), 0);
		if (!CHECK(function_store_read_lines(path, &back, NULL) == -EBADMSG))
			break;
	}
}

TESTS(T(lines_come_back_as_they_were), T(no_lines_are_a_table_without_rows),
      T(lines_are_kept_with_functions), T(damage_of_lines_is_found))
