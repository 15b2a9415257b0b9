/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is read of Python interpreters, and of the functions that they run. */
#include "test.h"

#include "file/path.h"
#include "elf/elffile.h"
#include "elf/vdso.h"
#include "interpreter/python_layout.h"
#include "interpreter/python_lines.h"

#include <stdlib.h>
#include <string.h>

/* --- interpreters --- */

/* The file that looks like an interpreter, as memory that may be changed; caller frees. */
static char *read_fake(size_t *ret_size)
{
	_cleanup_free_ char *path =
		path_join(getenv("OP_BUILD_ROOT"), "tests/unit/libfake_python.so");
	struct error err = ERROR_INIT;
	char *bytes = NULL;
	int64_t n = path_read("", path, &bytes, &err);

	CHECK(n > 0);
	*ret_size = (size_t)n;
	return bytes;
}

/* Replaces the first word @from of the file by @to. */
static void replace(char *bytes, size_t size, uint64_t from, uint64_t to)
{
	char *at = memmem(bytes, size, &from, sizeof(from));

	CHECK(at);
	memcpy(at, &to, sizeof(to));
}

/* Reads the layout of the file with @version in place of its own. */
static bool read_version(uint64_t version, uint64_t base, struct python_layout *ret)
{
	size_t size;
	_cleanup_free_ char *bytes = read_fake(&size);
	_cleanup_(elffile_closep) struct elffile *ef = NULL;

	if (version != 0x030d00f0) {
		replace(bytes, size, 0x030d00f0, version);
		replace(bytes, size, 0x030d00f0, version);
	}
	CHECK_EQ(elffile_open_memory(bytes, size, "fake", &ef, NULL), 0);
	return python_layout_read(ef, base, ret);
}

static void a_version_that_describes_itself_is_read(void)
{
	struct python_layout l, other;

	CHECK(read_version(0x030d00f0, 0, &l));
	CHECK_EQ(l.version, 0x030d);
	CHECK_EQ(l.entry, PYTHON_ENTRY_SHIM);
	CHECK_EQ(l.runtime_interpreters, 632);
	CHECK_EQ(l.interpreter_next, 7264);
	CHECK_EQ(l.interpreter_threads, 7344);
	CHECK_EQ(l.thread_next, 8);
	CHECK_EQ(l.thread_frame, 72);
	CHECK_EQ(l.thread_id, 152);
	CHECK_EQ(l.thread_status, 32);
	CHECK_EQ(l.frame_previous, 8);
	CHECK_EQ(l.frame_instruction, 56);
	CHECK_EQ(l.frame_owner, 70);
	CHECK_EQ(l.frame_bytes, 72);
	CHECK_EQ(l.code_name, 128);
	CHECK_EQ(l.code_file, 112);
	CHECK_EQ(l.code_lines, 136);
	CHECK_EQ(l.code_line, 68);
	CHECK_EQ(l.code_start, 200);
	CHECK_EQ(l.text_data, 40);
	CHECK(python_layout_makes_sense(&l));
	CHECK(read_version(0x030d00f0, 0x1000, &other));
	CHECK_EQ(l.runtime - other.runtime, 0x1000);
	CHECK_EQ(l.code_type - other.code_type, 0x1000);
}

static void other_versions_are_in_a_table(void)
{
	static const struct {
		uint64_t version;
		enum python_entry entry;
		uint16_t thread_id;
	} rows[] = {
		{ 0x030b02f0, PYTHON_ENTRY_FLAG, 152 },
		{ 0x030b07f0, PYTHON_ENTRY_FLAG, 152 },
		{ 0x030c01f0, PYTHON_ENTRY_SHIM, 136 },
	};
	struct python_layout l;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK(read_version(rows[i].version, 0, &l));
		CHECK_EQ(l.version, rows[i].version >> 16);
		CHECK_EQ(l.entry, rows[i].entry);
		CHECK_EQ(l.thread_id, rows[i].thread_id);
	}
}

static void an_unknown_version_is_named(void)
{
	struct python_layout l;

	CHECK(read_version(0x03ff00f0, 0, &l));
	CHECK_EQ(l.version, 0x03ff);
	CHECK_EQ(l.entry, PYTHON_ENTRY_NONE);
}

static void wrong_offsets_are_refused(void)
{
	size_t size;
	_cleanup_free_ char *bytes = read_fake(&size);
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	struct python_layout l;

	replace(bytes, size, 7344, 1 << 20);
	CHECK_EQ(elffile_open_memory(bytes, size, "fake", &ef, NULL), 0);
	CHECK(python_layout_read(ef, 0, &l));
	CHECK_EQ(l.entry, PYTHON_ENTRY_NONE);
}

static void other_files_are_no_interpreters(void)
{
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	struct python_layout l;

	CHECK_EQ(elffile_open_memory(vdso_image(), vdso_size(), "[vdso]", &ef, NULL), 0);
	CHECK(!python_layout_read(ef, 0, &l));
}

static void forged_layouts_make_no_sense(void)
{
	struct python_layout good, l;

	CHECK(read_version(0x030d00f0, 0, &good));
	l = good, l.entry = PYTHON_ENTRY_COUNT_;
	CHECK(!python_layout_makes_sense(&l));
	l = good, l.frame_bytes = 129;
	CHECK(!python_layout_makes_sense(&l));
	l = good, l.code_bytes = 257;
	CHECK(!python_layout_makes_sense(&l));
	l = good, l.code_bytes = l.code_lines;
	CHECK(!python_layout_makes_sense(&l));
	l = good, l.frame_bytes = l.frame_owner;
	CHECK(!python_layout_makes_sense(&l));
	l = good, l.code_name = 1024;
	CHECK(!python_layout_makes_sense(&l));
	l = good, l.code_name = 129;
	CHECK(!python_layout_makes_sense(&l));
}

/* --- lines --- */

/* The same function, as three versions compile it, with the rows that dis and co_lines() show. */
static void lines_are_those_of_the_interpreter(void)
{
	static const uint8_t py38[] = { 0, 1, 4, 1, 4, 1, 6, 1, 2, 0xff, 6, 3 };
	static const struct function_line rows38[] = { { 0, 2 },  { 4, 3 },  { 8, 4 },
						       { 14, 5 }, { 16, 4 }, { 22, 7 } };
	static const uint8_t py310[] = { 4, 1, 4, 1, 6, 1, 2, 1, 6, 0xff, 4, 3 };
	static const uint8_t py312[] = { 0x80, 0x00, 0xd8, 0x08, 0x09, 0x80, 0x41, 0xd9, 0x07,
					 0x08, 0xe0, 0x16, 0x17, 0xf6, 0x03, 0x01, 0x0d, 0x19,
					 0xd8, 0x11, 0x12, 0xf2, 0x03, 0x00, 0x0e, 0x0f, 0xf0,
					 0x00, 0x01, 0x0d, 0x19, 0x88, 0x01, 0xf0, 0x00, 0x01,
					 0x0d, 0x19, 0xf0, 0x06, 0x00, 0x0c, 0x0d, 0x80, 0x48,
					 0xf9, 0xf2, 0x07, 0x01, 0x0d, 0x19 };
	/* Code without a line, at 44, counts for the definition. */
	static const struct function_line rows312[] = { { 0, 1 },  { 2, 2 },  { 6, 3 },	 { 10, 5 },
							{ 12, 4 }, { 26, 5 }, { 28, 4 }, { 40, 7 },
							{ 44, 1 }, { 48, 4 } };
	static const struct {
		unsigned int version;
		const uint8_t *bytes;
		size_t size;
		const struct function_line *rows;
		size_t count;
		uint32_t end;
	} cases[] = {
		{ 0x0308, py38, sizeof(py38), rows38, ARRAY_SIZE(rows38), 22 },
		{ 0x030a, py310, sizeof(py310), rows38, ARRAY_SIZE(rows38), 26 },
		{ 0x030c, py312, sizeof(py312), rows312, ARRAY_SIZE(rows312), 54 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct python_lines lines = { 0 };

		python_lines_decode(&lines, cases[i].version, 1,
				    span_of(cases[i].bytes, cases[i].size));
		CHECK_EQ(lines.end, cases[i].end);
		CHECK_EQ(lines.count, cases[i].count);
		if (lines.count == cases[i].count)
			CHECK(!memcmp(lines.rows, cases[i].rows,
				      lines.count * sizeof(*lines.rows)));
		free(lines.rows);
	}
}

static void a_table_cut_short_is_read_up_to_there(void)
{
	static const uint8_t bytes[] = { 0x80, 0x00, 0xf0, 0x41, 0x41, 0x41 };
	struct python_lines lines = { 0 };

	python_lines_decode(&lines, 0x030b, 7, span_of(bytes, sizeof(bytes)));
	CHECK_EQ(lines.count, 1);
	CHECK_EQ(lines.rows[0].line, 7);
	CHECK_EQ(lines.end, 2);
	free(lines.rows);
}

TESTS(T(a_version_that_describes_itself_is_read), T(other_versions_are_in_a_table),
      T(an_unknown_version_is_named), T(wrong_offsets_are_refused),
      T(other_files_are_no_interpreters), T(forged_layouts_make_no_sense),
      T(lines_are_those_of_the_interpreter), T(a_table_cut_short_is_read_up_to_there))
