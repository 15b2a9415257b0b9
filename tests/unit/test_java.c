/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is read of HotSpot's file. */
#include "test.h"

#include "elf/elffile.h"
#include "file/path.h"
#include "interpreter/interpreter_image.h"
#include "interpreter/java_layout.h"

#include <stdlib.h>
#include <string.h>

/* A file that looks like the virtual machine of a JDK, with @to in place of @from, which may be
 * NULL; as memory. Caller frees. */
static char *read_fake(unsigned jdk, const char *from, const char *to, size_t *ret_size)
{
	_cleanup_free_ char *name = xasprintf("tests/unit/libfake_java_%u.so", jdk);
	_cleanup_free_ char *path = path_join(getenv("OP_BUILD_ROOT"), name);
	struct error err = ERROR_INIT;
	char *bytes = NULL, *at;
	int64_t n = path_read("", path, &bytes, &err);

	CHECK(n > 0);
	*ret_size = (size_t)n;
	at = from ? memmem(bytes, (size_t)n, from, strlen(from) + 1) : NULL;
	CHECK(!from || at);
	if (from)
		memcpy(at, to, strlen(to));
	return bytes;
}

static bool read_changed(unsigned jdk, const char *from, const char *to, uint64_t base,
			 struct java_layout *ret)
{
	size_t size;
	_cleanup_free_ char *bytes = read_fake(jdk, from, to, &size);
	_cleanup_(elffile_closep) struct elffile *ef = NULL;

	CHECK_EQ(elffile_open_memory(bytes, size, "fake", &ef, NULL), 0);
	return java_layout_read(ef, base, ret);
}

#if defined(__x86_64__)
static void versions_describe_themselves(void)
{
	static const struct {
		unsigned jdk;
		uint16_t length, source; /* the entries about them */
		uint8_t is_offset, is_short;
	} rows[] = {
		{ 11, 9, JAVA_NO_ENTRY, 0, 0 },
		{ 25, 9, 10, 1, 1 },
	};
	struct java_layout l;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK(read_changed(rows[i].jdk, NULL, NULL, 0, &l));
		CHECK_EQ(l.is_known, 1);
		CHECK_EQ(l.version, rows[i].jdk);
		CHECK_EQ(l.entries[JAVA_SYMBOL_LENGTH], 0);
		CHECK_EQ(l.entries[JAVA_HEAP_MEMORY], 4);
		CHECK_EQ(l.entries[JAVA_LIST_LENGTH], rows[i].length);
		CHECK_EQ(l.entries[JAVA_POOL_SOURCE], rows[i].source);
		CHECK(l.entries[JAVA_BLOB_METHOD] != JAVA_NO_ENTRY);
		CHECK_EQ(l.is_offset, rows[i].is_offset);
		CHECK_EQ(l.is_short, rows[i].is_short);
		CHECK_EQ(l.block_bytes, 16);
		CHECK_EQ(l.const_bytes, 56);
		CHECK_EQ(l.pool_bytes, 72);
		CHECK(java_layout_makes_sense(&l));
	}
}

static void addresses_are_relative(void)
{
	struct java_layout l, other;

	CHECK(read_changed(25, NULL, NULL, 0, &l));
	CHECK(read_changed(25, NULL, NULL, 0x1000, &other));
	CHECK_EQ(l.table - other.table, 0x1000);
	CHECK_EQ(l.pointer - other.pointer, 0x1000);
	CHECK_EQ(l.heaps - other.heaps, 0x1000);
	CHECK_EQ(l.data - other.data, 0x1000);
}

static void a_missing_member_makes_it_unknown(void)
{
	struct java_layout l;

	CHECK(read_changed(25, "_segmap", "_SEGMAP", 0, &l));
	CHECK_EQ(l.is_known, 0);
	CHECK(read_changed(25, "HeapBlock", "HEAPBLOCK", 0, &l));
	CHECK_EQ(l.is_known, 0);
	CHECK(read_changed(25, "CodeCache", "CODECACHE", 0, &l));
	CHECK_EQ(l.is_known, 0);
	CHECK(read_changed(25, "_source_file_name_index", "_SOURCE_file_name_index", 0, &l));
	CHECK_EQ(l.is_known, 1);
}

static void forged_layouts_make_no_sense(void)
{
	struct java_layout good, l;

	CHECK(read_changed(25, NULL, NULL, 0, &good));
	l = good;
	l.entries[JAVA_HEAP_MAP] = JAVA_NO_ENTRY;
	CHECK(!java_layout_makes_sense(&l));
	l = good;
	l.entries[JAVA_POOL_SOURCE] = JAVA_ENTRIES_MAX;
	CHECK(!java_layout_makes_sense(&l));
	l = good;
	l.block_bytes = 1000;
	CHECK(!java_layout_makes_sense(&l));
	l = good;
	l.const_bytes = 0;
	CHECK(!java_layout_makes_sense(&l));
	l = good;
	l.is_known = 2;
	CHECK(!java_layout_makes_sense(&l));
}
#else
static void versions_describe_themselves(void)
{
	struct java_layout l;

	CHECK(read_changed(25, NULL, NULL, 0, &l));
	CHECK_EQ(l.is_known, 0);
	SKIP("only for x86-64");
}

static void addresses_are_relative(void)
{
	SKIP("only for x86-64");
}

static void a_missing_member_makes_it_unknown(void)
{
	SKIP("only for x86-64");
}

static void forged_layouts_make_no_sense(void)
{
	SKIP("only for x86-64");
}
#endif

static void a_file_without_the_tables_is_none(void)
{
	struct java_layout l;

	CHECK(!read_changed(25, "gHotSpotVMStructs", "gHotSpotVMStructz", 0, &l));
}

static void the_table_of_languages_knows_it(void)
{
	size_t size;
	_cleanup_free_ char *bytes = read_fake(25, NULL, NULL, &size);
	_cleanup_(elffile_closep) struct elffile *ef = NULL;
	struct interpreter i;

	CHECK_EQ(elffile_open_memory(bytes, size, "fake", &ef, NULL), 0);
	CHECK(interpreter_image_read(ef, 0, &i));
	CHECK_EQ(i.kind, INTERPRETER_JAVA);
	CHECK(interpreter_image_makes_sense(&i));
	i.is_known = !i.is_known;
	CHECK(!interpreter_image_makes_sense(&i));
}

TESTS(T(versions_describe_themselves), T(addresses_are_relative),
      T(a_missing_member_makes_it_unknown), T(forged_layouts_make_no_sense),
      T(a_file_without_the_tables_is_none), T(the_table_of_languages_knows_it))
