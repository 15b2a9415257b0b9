/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is read of Ruby's interpreter, its line tables, and how its files are called. */
#include "test.h"

#include "base/macro.h"
#include "elf/elffile.h"
#include "file/path.h"
#include "interpreter/interpreter_image.h"
#include "interpreter/ruby_layout.h"
#include "interpreter/ruby_lines.h"
#include "interpreter/ruby_names.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 2000, ENTRY_WORDS = 3 };

/* --- the interpreter --- */

/* Reads the layout of the file that looks like an interpreter, with @to in place of @from, which
 * may be NULL. */
static bool read_changed(const char *from, const char *to, uint64_t base, struct ruby_layout *ret)
{
	_cleanup_free_ char *path =
		path_join(getenv("OP_BUILD_ROOT"), "tests/unit/libfake_ruby.so");
	_cleanup_free_ char *bytes = NULL;
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	int64_t n = path_read("", path, &bytes, NULL);
	char *at = bytes;

	CHECK(n > 0);
	while (from && (at = memmem(at, (size_t)(bytes + n - at), from, strlen(from))))
		memcpy(at, to, strlen(to));
	CHECK_EQ(elffile_open_memory(bytes, (size_t)n, "fake", &ef, NULL), 0);
	return ruby_layout_read(ef, base, ret);
}

/* Reads the layout of that file with other names for the @count symbols @names. */
static bool read_without(const char *const *names, size_t count, struct ruby_layout *ret)
{
	_cleanup_free_ char *path =
		path_join(getenv("OP_BUILD_ROOT"), "tests/unit/libfake_ruby.so");
	_cleanup_free_ char *bytes = NULL;
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	int64_t n = path_read("", path, &bytes, NULL);
	size_t i;
	char *at;

	CHECK(n > 0);
	for (i = 0; i < count; i++)
		for (at = bytes;
		     (at = memmem(at, (size_t)(bytes + n - at), names[i], strlen(names[i]) + 1));)
			*at = 'X';
	CHECK_EQ(elffile_open_memory(bytes, (size_t)n, "fake", &ef, NULL), 0);
	return ruby_layout_read(ef, 0, ret);
}

/* Since 3.3 a library has neither the symbol of the loop nor that of the thread's state. */
static void what_has_no_symbols_any_more_is_found(void)
{
	static const char *const names[] = { "rb_vm_exec", "ruby_current_ec", "rb_yield",
					     "rb_current_receiver" };
	struct ruby_layout named, l;

	CHECK(read_without(names, 0, &named) && read_without(names, 2, &l));
#ifdef __x86_64__
	CHECK_EQ(l.is_known, 1);
	CHECK_EQ(l.loop_start, named.loop_start);
	CHECK(l.loop_bytes >= named.loop_bytes && l.loop_bytes < named.loop_bytes + 16);
	CHECK_EQ(l.core_start, named.core_start);
	CHECK_EQ(l.current, named.current);
#endif
	CHECK(read_without(names, 3, &l));
	CHECK_EQ(l.is_known, 0);
	CHECK(read_without(names, 4, &l));
	CHECK_EQ(l.is_known, 0);
}

static void what_is_stripped_is_found(void)
{
	struct ruby_layout l, moved;

	CHECK(read_changed(NULL, NULL, 0, &l));
	CHECK_EQ(l.version, 0x0301);
	CHECK(l.loop_start > 0 && l.loop_bytes > 0 && l.loop_bytes < 8192);
	CHECK(ruby_layout_makes_sense(&l));
#ifdef __x86_64__
	CHECK_EQ(l.is_known, 1);
	CHECK_EQ(l.thread, RUBY_THREAD_GLIBC);
	CHECK(l.core_bytes > 8192 && l.core_bytes < 12000);
	CHECK(l.symbols > 0 && l.module > 0);
	CHECK(l.current == 0 || l.current == 8);
	CHECK(read_changed(NULL, NULL, 0x1000, &moved));
	CHECK_EQ(l.loop_start - moved.loop_start, 0x1000);
	CHECK_EQ(l.core_start - moved.core_start, 0x1000);
	CHECK_EQ(l.symbols - moved.symbols, 0x1000);
	CHECK_EQ(l.module - moved.module, 0x1000);
#else
	(void)moved;
#endif
}

static void an_unknown_version_is_named(void)
{
	static const char *const others[] = { "2.7.4", "3.9.1", "x.1.2", "31.22" };
	struct ruby_layout l;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		CHECK(read_changed("3.1.2", others[i], 0, &l));
		CHECK_EQ(l.is_known, 0);
	}
	CHECK(read_changed("3.1.2", "3.9.1", 0, &l));
	CHECK_EQ(l.version, 0x0309);
}

static void a_file_without_its_symbols_has_no_frames(void)
{
	struct ruby_layout l;

	CHECK(!read_changed("ruby_version", "ruby_versiom", 0, &l));
}

static void a_forged_layout_is_refused(void)
{
	struct interpreter i = { .kind = INTERPRETER_RUBY,
				 .is_known = 1,
				 .ruby = { .is_known = 1,
					   .loop_bytes = 1,
					   .frame_bytes = 64,
					   .body_path = 64,
					   .body_line = 88,
					   .body_lines = 120,
					   .line_bytes = 12 } };

	CHECK(interpreter_image_makes_sense(&i));
	i.ruby.body_path = 140;
	CHECK(!interpreter_image_makes_sense(&i));
	i.ruby.body_path = 152;
	CHECK(!interpreter_image_makes_sense(&i));
	i.ruby.body_path = 64;
	i.ruby.thread = RUBY_THREAD_COUNT_;
	CHECK(!interpreter_image_makes_sense(&i));
	i.ruby.thread = 0;
	i.is_known = 0;
	CHECK(!interpreter_image_makes_sense(&i));
}

/* --- lines --- */

/* A table as the BPF program sends it: entry @i is for the words from positions[i] on. */
struct table {
	uint8_t index[RUBY_INDEX_BYTES];
	uint32_t entries[WORDS_MAX][ENTRY_WORDS];
};

static void put(uint8_t *at, uint64_t value)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	word |= value;
	memcpy(at, &word, sizeof(word));
}

/* The number of positions at or below @word. */
static uint64_t rank(const uint32_t *positions, size_t count, uint32_t word)
{
	size_t n = 0;

	while (n < count && positions[n] <= word)
		n++;
	return n;
}

/* Makes the index for @words words, as succ_index_table_create() in Ruby's iseq.c. */
static void make_index(struct table *t, const uint32_t *positions, size_t count, uint32_t words)
{
	uint32_t word, base = RUBY_FEW_WORDS, in;
	uint8_t *block;

	for (word = 0; word < RUBY_FEW_WORDS; word++)
		put(t->index + word / 9 * 8, rank(positions, count, word) << word % 9 * 7);
	for (word = base; word < words; word++) {
		in = (word - base) % 512;
		block = t->index + 48 + (word - base) / 512 * RUBY_BLOCK_BYTES;
		if (!in)
			put(block, rank(positions, count, word - 1));
		if (in && in % 64 == 0)
			put(block + 8, (rank(positions, count, word - 1) -
					rank(positions, count, word - in - 1))
					       << (in / 64 - 1) * 9);
		if (rank(positions, count, word) != rank(positions, count, word - 1))
			put(block + 16 + in / 64 * 8, 1ULL << in % 64);
	}
}

static void each_word_has_the_line_of_its_entry(void)
{
	enum { ENTRIES = 300, WORDS = 1500 };
	_cleanup_free_ struct table *t = xcalloc(1, sizeof(*t));
	struct ruby_lines lines = { 0 };
	uint32_t positions[ENTRIES];
	size_t i;

	for (i = 0; i < ENTRIES; i++) {
		positions[i] = (uint32_t)(i * 5 + i % 3);
		t->entries[i][0] = (uint32_t)(100 + i);
	}
	make_index(t, positions, ENTRIES, WORDS);
	ruby_lines_decode(&lines, WORDS, 7,
			  span_of(t, sizeof(t->index) + ENTRIES * sizeof(t->entries[0])));
	CHECK_EQ(lines.count, ENTRIES);
	for (i = 0; i < ENTRIES; i++) {
		CHECK_EQ(lines.rows[i].offset, positions[i]);
		CHECK_EQ(lines.rows[i].line, 100 + i);
	}
	free(lines.rows);
}

static void one_entry_needs_no_index(void)
{
	struct table t = { .entries = { { 12 } } };
	struct ruby_lines lines = { 0 };

	memset(t.index, 0xff, sizeof(t.index));
	ruby_lines_decode(&lines, 9, 7, span_of(&t, sizeof(t.index) + sizeof(t.entries[0])));
	CHECK_EQ(lines.count, 1);
	CHECK_EQ(lines.rows[0].offset, 0);
	CHECK_EQ(lines.rows[0].line, 12);
	free(lines.rows);
}

static void what_has_no_entry_is_in_the_first_line(void)
{
	struct table t = { .entries = { { 12 }, { 0 }, { UINT32_MAX } } };
	static const uint32_t positions[] = { 2, 4, 6, 8 };
	struct ruby_lines lines = { 0 };

	make_index(&t, positions, ARRAY_SIZE(positions), 20);
	ruby_lines_decode(&lines, 20, 7, span_of(&t, sizeof(t.index) + 3 * sizeof(t.entries[0])));
	CHECK_EQ(lines.count, 3);
	CHECK_EQ(lines.rows[0].line, 7);
	CHECK_EQ(lines.rows[1].offset, 2);
	CHECK_EQ(lines.rows[1].line, 12);
	CHECK_EQ(lines.rows[2].offset, 4);
	CHECK_EQ(lines.rows[2].line, 7);
	free(lines.rows);
	lines = (struct ruby_lines){ 0 };
	ruby_lines_decode(&lines, 20, 7, span_of(&t, 10));
	CHECK_EQ(lines.count, 1);
	CHECK_EQ(lines.rows[0].line, 7);
	free(lines.rows);
}

/* --- names --- */

static void files_have_names(void)
{
	static const struct {
		const char *file, *name;
	} rows[] = {
		{ "/srv/a.rb", "/srv/a.rb" },
		{ "-e", "<-e>" },
		{ "(eval)", "<(eval)>" },
		{ "<internal:kernel>", "<internal:kernel>" },
		{ "ruby", "<ruby>" },
		{ "", "<ruby>" },
		{ "(eval at ../x)", "<(eval at .._x)>" },
		{ "<", "<<>" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *name = ruby_names_file(rows[i].file);

		CHECK_STR(name, rows[i].name);
	}
}

TESTS(T(what_is_stripped_is_found), T(what_has_no_symbols_any_more_is_found),
      T(an_unknown_version_is_named), T(a_file_without_its_symbols_has_no_frames),
      T(a_forged_layout_is_refused), T(each_word_has_the_line_of_its_entry),
      T(one_entry_needs_no_index), T(what_has_no_entry_is_in_the_first_line), T(files_have_names))
