/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/functions.h"

#include "dwarf/kept_lines.h"
#include "file/file_identity.h"
#include "elf/elffile.h"
#include "parser/parser.h"
#include "symbol/elfcode.h"
#include "symbol/function_file.h"
#include "symbol/function_store.h"
#include "symbol/symtab.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

enum { ROOM = 16 << 20 };

static bool equal(const struct symbol *a, const struct symbol *b)
{
	return a->offset == b->offset && a->end == b->end && a->address == b->address &&
	       a->whole == b->whole && a->rank == b->rank && !strcmp(a->name, b->name);
}

/* The first symbol in which two tables differ; their number if they are equal. */
static size_t first_difference(const struct symtab *a, const struct symtab *b)
{
	size_t i;

	for (i = 0; i < symtab_count(a) && i < symtab_count(b); i++)
		if (!equal(symtab_at(a, i), symtab_at(b, i)))
			return i;
	return symtab_count(a) == symtab_count(b) ? i : SIZE_MAX;
}

static struct symtab *symbols_of(const char *path, const char *name)
{
	struct elffile *ef = NULL;
	struct error err = ERROR_INIT;

	CHECK_EQ(elffile_open(path, &ef, &err), 0);
	return elfcode_symbols(ef, NULL, name);
}

static const char *const programs[] = { "/proc/self/exe", "/lib/x86_64-linux-gnu/libc.so.6",
					"/lib/aarch64-linux-gnu/libc.so.6", "/bin/true" };

static void functions_come_back_as_they_were(void)
{
	_cleanup_free_ char *bytes = xmalloc(ROOM);
	size_t i, compared = 0;

	for (i = 0; i < ARRAY_SIZE(programs); i++) {
		_cleanup_(symtab_freep) struct symtab *st = NULL, *back = NULL;
		ssize_t n;

		if (access(programs[i], R_OK) < 0)
			continue;
		st = symbols_of(programs[i], "it");
		n = functions_pack(st, bytes, ROOM);
		if (!CHECK(n > 0))
			continue;
		CHECK_EQ(functions_unpack(bytes, (size_t)n, "it", &back), 0);
		CHECK_EQ(first_difference(st, back), symtab_count(st));
		compared++;
	}
	CHECK(compared > 0);
}

static void the_sandbox_reads_the_same(void)
{
	_cleanup_(parser_freep) struct parser *p = NULL;
	_cleanup_(symtab_freep) struct symtab *st = symbols_of("/proc/self/exe", "me");
	_cleanup_(symtab_freep) struct symtab *back = NULL;
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int none = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	_cleanup_free_ void *bytes = NULL;
	size_t size = 0;

	CHECK_EQ(parser_new(&p, NULL), 0);
	CHECK_EQ(parser_functions(p, fd, &bytes, &size), 0);
	CHECK_EQ(functions_unpack(bytes, size, "me", &back), 0);
	CHECK_EQ(first_difference(st, back), symtab_count(st));
	CHECK(parser_functions(p, none, &bytes, &size) < 0);
	CHECK_EQ(parser_lost(p), 0);
}

/* A table of three functions in a file, packed; returns its size. */
static size_t pack_three(char *bytes, size_t room)
{
	_cleanup_(symtab_freep) struct symtab *st = symtab_new();
	size_t i;

	for (i = 0; i < 3; i++) {
		const struct symbol symbol = { .offset = 0x1000 + 0x100 * i,
					       .end = 0x1080 + 0x100 * i,
					       .address = 0x401000 + 0x100 * i,
					       .name = i == 2 ? "[+0x401200]" : "f" };

		symtab_add(st, &symbol);
	}
	symtab_settle(st);
	return (size_t)functions_pack(st, bytes, room);
}

static void names_that_are_made_up_have_the_name_of_the_file(void)
{
	_cleanup_(symtab_freep) struct symtab *st = NULL;
	char bytes[256];
	size_t n = pack_three(bytes, sizeof(bytes));

	if (!CHECK(functions_unpack(bytes, n, "xz", &st) == 0))
		return;
	CHECK_STR(symtab_find(st, 0x1000)->name, "f");
	CHECK_STR(symtab_find(st, 0x1200)->name, "[xz+0x401200]");
	CHECK(!symtab_find(st, 0x1090));
}

static void what_has_no_room_is_not_packed(void)
{
	_cleanup_(symtab_freep) struct symtab *st = symbols_of("/proc/self/exe", "");
	char bytes[64];

	CHECK_EQ(functions_pack(st, bytes, sizeof(bytes)), -EFBIG);
}

/* --- the store --- */

static const struct function_table *three(uint32_t owner)
{
	static char bytes[256];
	static struct function_table table;

	table = (struct function_table){ bytes, pack_three(bytes, sizeof(bytes)), owner };
	return &table;
}

static char *path_of(const char *directory, const char *key)
{
	return xasprintf("%s/symbols/%s", directory, key);
}

static void a_file_is_kept_once(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_(function_store_freep) struct function_store *s =
		function_store_new(directory, 1 << 20);
	_cleanup_(function_store_freep) struct function_store *other = NULL;
	_cleanup_(symtab_freep) struct symtab *st = NULL;
	_cleanup_free_ char *path = path_of(directory, "ab");
	struct function_store_counts counts;

	CHECK(function_store_wants(s, "ab", true));
	function_store_put(s, "ab", three(0));
	CHECK(!function_store_wants(s, "ab", true));
	CHECK(function_store_wants(s, "cd", true));
	function_store_lacks(s, "cd");
	CHECK(!function_store_wants(s, "cd", false));
	function_store_count(s, &counts);
	CHECK_EQ(counts.functions_kept, 1);
	CHECK(counts.bytes > 0);
	CHECK_EQ(function_file_read(path, "xz", &st, NULL), 0);
	CHECK_EQ(symtab_count(st), 3);
	/* Another run finds it. */
	other = function_store_new(directory, 1 << 20);
	CHECK(!function_store_wants(other, "ab", true));
	CHECK(function_store_wants(other, "cd", true));
}

static void none_are_kept_without_room(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_(function_store_freep) struct function_store *s = function_store_new(directory, 0);
	_cleanup_free_ char *path = path_of(directory, "");

	CHECK(!function_store_wants(s, "ab", true));
	CHECK(access(path, F_OK) < 0);
	function_store_set_limit(s, 1 << 20);
	CHECK(function_store_wants(s, "ab", true));
}

/* Anybody can make a file with the build-id of a system's program. */
static void a_users_file_gives_way_to_one_of_root(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_(function_store_freep) struct function_store *s =
		function_store_new(directory, 1 << 20);
	struct function_store_counts counts;

	function_store_put(s, "ab", three(1000));
	CHECK(!function_store_wants(s, "ab", false));
	CHECK(function_store_wants(s, "ab", true));
	function_store_put(s, "ab", three(1001));
	function_store_count(s, &counts);
	CHECK_EQ(counts.functions_kept, 1);
	function_store_put(s, "ab", three(0));
	CHECK(!function_store_wants(s, "ab", true));
	function_store_put(s, "ab", three(1000));
	function_store_count(s, &counts);
	CHECK_EQ(counts.functions_kept, 2);
}

/* Anybody can run an unreadable file with the build-id of a system's program. */
static void a_file_that_lacks_functions_keeps_none_out(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_(function_store_freep) struct function_store *s =
		function_store_new(directory, 1 << 20);

	function_store_lacks(s, "ab");
	CHECK(!function_store_wants(s, "ab", false));
	CHECK(function_store_wants(s, "ab", true));
	function_store_put(s, "ab", three(0));
	CHECK(!function_store_wants(s, "ab", true));
}

static void a_removed_directory_is_made_again(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_free_ char *path = path_of(directory, "ab"), *symbols = path_of(directory, "");
	_cleanup_(function_store_freep) struct function_store *s =
		function_store_new(directory, 1 << 20);
	struct function_store_counts counts;

	function_store_put(s, "ab", three(0));
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(rmdir(symbols), 0);
	function_store_put(s, "cd", three(0));
	function_store_put(s, "ef", three(0));
	function_store_count(s, &counts);
	CHECK_EQ(counts.functions_kept, 2);
	CHECK_EQ(counts.functions_failed, 1);
}

static void set_used(const char *directory, const char *key, time_t seconds)
{
	_cleanup_free_ char *path = path_of(directory, key);
	const struct timespec times[2] = { { seconds, 0 }, { seconds, 0 } };

	CHECK_EQ(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void those_not_used_for_longest_go_first(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_(function_store_freep) struct function_store *s =
		function_store_new(directory, 64 << 10);
	struct function_store_counts counts;
	char key[8];
	unsigned int i;

	/* Each takes a block or more on the disk. */
	for (i = 0; i < 8; i++) {
		(void)snprintf(key, sizeof(key), "k%u", i);
		function_store_put(s, key, three(0));
		set_used(directory, key, 1000000 + (i ? (time_t)i : 100));
	}
	for (; i < 400; i++) {
		(void)snprintf(key, sizeof(key), "k%u", i);
		function_store_put(s, key, three(0));
	}
	function_store_count(s, &counts);
	CHECK(counts.functions_evicted > 0 && counts.bytes <= 64 << 10);
	CHECK(function_store_wants(s, "k1", true));
	CHECK(!function_store_wants(s, "k399", true));
}

static void what_is_too_much_at_once_is_put_off(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_(function_store_freep) struct function_store *s =
		function_store_new(directory, (uint64_t)1 << 30);
	_cleanup_free_ char *bytes = xcalloc(1, 8 << 20);
	const struct function_table table = { bytes, 8 << 20, 0 };
	struct function_store_counts counts;
	char key[8];
	unsigned int i;

	for (i = 0; i < 20; i++) {
		(void)snprintf(key, sizeof(key), "k%u", i);
		function_store_put(s, key, &table);
	}
	function_store_count(s, &counts);
	CHECK(counts.functions_kept >= 4 && counts.functions_put_off > 0);
	CHECK_EQ(counts.functions_kept + counts.functions_put_off, 20);
	CHECK(function_store_wants(s, key, true));
}

static void what_cannot_be_written_is_counted(void)
{
	_cleanup_(function_store_freep) struct function_store *s =
		function_store_new("/proc/nonexistent", 1 << 20);
	struct function_store_counts counts;

	function_store_put(s, "ab", three(0));
	function_store_count(s, &counts);
	CHECK_EQ(counts.functions_failed, 1);
	CHECK_EQ(counts.functions_kept, 0);
}

/* Whatever byte is wrong, the table is refused as a whole. */
static void damage_is_found(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_(function_store_freep) struct function_store *s =
		function_store_new(directory, 1 << 20);
	_cleanup_free_ char *path = path_of(directory, "ab");
	struct symtab *st = NULL;
	struct stat file;
	off_t at;

	function_store_put(s, "ab", three(7));
	CHECK_EQ(stat(path, &file), 0);
	for (at = 0; at < file.st_size; at++) {
		_cleanup_close_ int fd = open(path, O_RDWR | O_CLOEXEC);
		uint8_t byte = 0, wrong;

		CHECK_EQ(pread(fd, &byte, 1, at), 1);
		wrong = byte ^ 0x10;
		CHECK_EQ(pwrite(fd, &wrong, 1, at), 1);
		if (!CHECK(function_file_read(path, "xz", &st, NULL) == -EBADMSG))
			break;
		CHECK_EQ(pwrite(fd, &byte, 1, at), 1);
	}
	CHECK_EQ(function_file_read(path, "xz", &st, NULL), 0);
	symtab_free(st);
	for (at = file.st_size; at-- > 0;) {
		CHECK_EQ(truncate(path, at), 0);
		if (!CHECK(function_file_read(path, "xz", &st, NULL) == -EBADMSG))
			break;
	}
}

/* --- leaving functions out --- */

/* A table of the first of the three functions only. */
static struct function_table first_of_three(char *bytes, size_t room)
{
	_cleanup_(symtab_freep) struct symtab *st = NULL;
	const struct function_table *all = three(0);
	const bool wanted[3] = { true };
	ssize_t n;

	CHECK_EQ(functions_unpack(all->bytes, all->size, "xz", &st), 0);
	n = functions_pack_some(st, wanted, bytes, room);
	CHECK(n > 0);
	return (struct function_table){ bytes, (size_t)n, 0 };
}

static size_t functions_in(const char *path)
{
	_cleanup_(symtab_freep) struct symtab *st = NULL;

	return function_file_read(path, "xz", &st, NULL) == 0 ? symtab_count(st) : SIZE_MAX;
}

static void keep_a_line(const char *path)
{
	_cleanup_(kept_lines_done) struct kept_lines lines = { 0 };

	kept_lines_add(&lines,
		       &(struct kept_code){ .address = 0x401000, .file = "a.c", .line = 7 });
	CHECK_EQ(function_file_add_lines(path, &lines, NULL), 0);
}

static bool has_line(const char *path)
{
	_cleanup_(kept_lines_done) struct kept_lines lines = { 0 };

	return function_file_read_lines(path, &lines, NULL) == 0 && lines.count == 1;
}

/* Cuts the table, unless it @is_used meanwhile. */
static int cut(const char *directory, bool is_used)
{
	_cleanup_free_ char *path = path_of(directory, "ab");
	char bytes[256];
	const struct function_table table = first_of_three(bytes, sizeof(bytes));
	struct stat was;

	set_used(directory, "ab", 1000000);
	CHECK_EQ(stat(path, &was), 0);
	if (is_used)
		set_used(directory, "ab", 2000000);
	return function_file_cut(path, &was, &table);
}

static void a_cut_table_is_read_again(void)
{
	static const struct {
		uint32_t owner, other;
		bool is_taken;
	} rows[] = { { 0, 0, true },
		     { 0, 1000, false },
		     { 1000, 1000, true },
		     { 1000, 1001, false },
		     { 1000, 0, true } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_directory_ char *directory = test_directory();
		_cleanup_(function_store_freep) struct function_store *s =
			function_store_new(directory, 1 << 20);
		_cleanup_(function_store_freep) struct function_store *later =
			function_store_new(directory, 1 << 20);
		_cleanup_free_ char *path = path_of(directory, "ab");
		struct stat st;

		function_store_put(s, "ab", three(rows[i].owner));
		keep_a_line(path);
		CHECK_EQ(cut(directory, false), 0);
		CHECK_EQ(functions_in(path), 1);
		CHECK(has_line(path));
		CHECK(stat(path, &st) == 0 && st.st_mtim.tv_sec == 1000000);
		CHECK(function_store_wants(later, "ab", false));
		function_store_put(later, "ab", three(rows[i].other));
		CHECK_EQ(functions_in(path), rows[i].is_taken ? 3 : 1);
		CHECK_EQ(has_line(path), rows[i].owner == rows[i].other || !rows[i].is_taken);
		CHECK_EQ(function_store_wants(later, "ab", false), !rows[i].is_taken);
	}
}

static void a_table_that_is_used_stays_whole(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_(function_store_freep) struct function_store *s =
		function_store_new(directory, 1 << 20);
	_cleanup_free_ char *path = path_of(directory, "ab"), *left = path_of(directory, "ab.cut");

	function_store_put(s, "ab", three(0));
	CHECK_EQ(cut(directory, true), -EBUSY);
	CHECK_EQ(functions_in(path), 3);
	CHECK(access(left, F_OK) < 0);
}

/* Killed before the cut table had its name, or after, when it is not known whether the other one
 * was used: the whole one stays. */
static void a_killed_cut_loses_nothing(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_(function_store_freep) struct function_store *s =
		function_store_new(directory, 1 << 20);
	_cleanup_free_ char *path = path_of(directory, "ab"), *left = path_of(directory, "ab.cut"),
			    *whole = path_of(directory, "whole");

	function_store_put(s, "ab", three(0));
	CHECK_EQ(link(path, whole), 0);
	CHECK_EQ(cut(directory, false), 0);
	CHECK_EQ(rename(whole, left), 0);
	function_file_recover(left);
	CHECK_EQ(functions_in(path), 3);
	CHECK(access(left, F_OK) < 0);
	CHECK_EQ(link(path, whole), 0);
	CHECK_EQ(cut(directory, false), 0);
	CHECK_EQ(rename(path, left), 0);
	CHECK_EQ(rename(whole, path), 0);
	function_file_recover(left);
	CHECK_EQ(functions_in(path), 3);
	CHECK(access(left, F_OK) < 0);
}

static void a_file_is_named_by_what_identifies_it(void)
{
	struct file_identity file = { .device = 8, .inode = 5 };
	struct file_version version = { .size = 100, .mtime = 1000 };
	char a[FUNCTION_KEY], b[FUNCTION_KEY];

	CHECK(function_key(&file, &version, a));
	version.mtime++;
	CHECK(function_key(&file, &version, b) && strcmp(a, b) != 0);
	CHECK(build_id_parse("0123abcd", &version.build_id) == 0);
	CHECK(function_key(&file, &version, a));
	CHECK_STR(a, "0123abcd");
	CHECK(!function_key(&(struct file_identity){ 0 }, &(struct file_version){ .size = 1 }, a));
}

TESTS(T(functions_come_back_as_they_were), T(the_sandbox_reads_the_same),
      T(names_that_are_made_up_have_the_name_of_the_file), T(what_has_no_room_is_not_packed),
      T(a_file_is_kept_once), T(none_are_kept_without_room),
      T(a_users_file_gives_way_to_one_of_root), T(a_file_that_lacks_functions_keeps_none_out),
      T(a_removed_directory_is_made_again), T(those_not_used_for_longest_go_first),
      T(what_is_too_much_at_once_is_put_off), T(what_cannot_be_written_is_counted),
      T(damage_is_found), T(a_cut_table_is_read_again), T(a_table_that_is_used_stays_whole),
      T(a_killed_cut_loses_nothing), T(a_file_is_named_by_what_identifies_it))
