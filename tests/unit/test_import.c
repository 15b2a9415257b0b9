/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/sfile/abi.c and import.c, with the files of a big-endian 32-bit machine that the original's
 * opimport was given, and what it made of them. */
#include "shared.h"

#include "base/span.h"
#include "file/copy.h"
#include "sfile/abi.h"
#include "import/import.h"

#include <errno.h>

static struct span span_of_text(const char *text)
{
	return span_of(text, strlen(text));
}

static void native_description_is_read_back(void)
{
	_cleanup_free_ char *text = abi_text(abi_native());
	struct error err = ERROR_INIT;
	struct abi abi = { 0 };

	CHECK_EQ(abi_parse(span_of_text(text), "abi", &abi, &err), 0);
	CHECK(abi_equal(&abi, abi_native()));
}

static void native_description_is_the_originals(void)
{
	_cleanup_free_ char *path = shared_path("interop/abi/native.abi");
	struct error err = ERROR_INIT;
	struct abi abi = { 0 };

	if (!path)
		SKIP(SHARED_MISSING);
	CHECK_EQ(abi_read(path, &abi, &err), 0);
	CHECK(abi_equal(&abi, abi_native()));
}

/* The native description with one line replaced by @line (its field is taken from it). */
static char *changed(const char *line)
{
	_cleanup_free_ char *text = abi_text(abi_native());
	char *at = strstr(text, " "), *end;
	size_t name = strcspn(line, " ");

	for (at = text; strncmp(at, line, name) != 0 || at[name] != ' '; at = strchr(at, '\n') + 1)
		;
	end = strchr(at, '\n');
	return xasprintf("%.*s%s%s", (int)(at - text), text, line, end);
}

static void impossible_descriptions_are_refused(void)
{
	static const struct {
		const char *line, *message;
	} cases[] = {
		{ "sizeof_double 4", "abi:1: 'sizeof_double 4' is malformed" },
		{ "sizeof_odb_key_t 3", "abi:7: 'sizeof_odb_key_t 3' is malformed" },
		{ "sizeof_odb_node_t 0", "abi:12: 'sizeof_odb_node_t 0' is malformed" },
		{ "sizeof_odb_node_t 5000", "abi:12: 'sizeof_odb_node_t 5000' is malformed" },
		{ "offsetof_node_key -1", "abi:14: 'offsetof_node_key -1' is malformed" },
		{ "offsetof_node_key 4294967295",
		  "abi:14: 'offsetof_node_key 4294967295' is malformed" },
		{ "offsetof_node_key 9", "abi: offsetof_node_key 9: its 8 bytes reach beyond the "
					 "16 bytes of sizeof_odb_node_t" },
		{ "offsetof_descr_current_size 29",
		  "abi: offsetof_descr_current_size 29: its 4 bytes reach beyond the 32 bytes of "
		  "sizeof_odb_descr_t" },
		{ "offsetof_header_cg_to_anon_start 65",
		  "abi: offsetof_header_cg_to_anon_start 65: its 8 bytes reach beyond the 72 bytes "
		  "of sizeof_struct_opd_header" },
		{ "sizeof_u32 8", "abi: sizeof_u32 8, sizeof_u64 8: must be 4 and 8" },
		{ "little_endian 2", "abi:31: 'little_endian 2' is malformed" },
		{ "little_endian ", "abi:31: 'little_endian ' is malformed" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = changed(cases[i].line);
		struct error err = ERROR_INIT;
		struct abi abi;

		CHECK_EQ(abi_parse(span_of_text(text), "abi", &abi, &err), -EBADMSG);
		CHECK_STR(err.text, cases[i].message);
	}
}

static void missing_and_doubled_lines_are_named(void)
{
	_cleanup_free_ char *text = abi_text(abi_native());
	_cleanup_free_ char *twice = xasprintf("%ssizeof_u8 1\n", text);
	_cleanup_free_ char *more = xasprintf("offsetof_header_spu_profile 52\n%s", text);
	struct error err = ERROR_INIT;
	struct abi abi;

	CHECK_EQ(abi_parse(span_of_text(twice), "abi", &abi, &err), -EBADMSG);
	CHECK_STR(err.text, "abi:32: 'sizeof_u8 1' is malformed");
	CHECK_EQ(abi_parse(span_of_text(more), "abi", &abi, &err), 0);
	*strstr(text, "offsetof_header_mtime") = '\0';
	CHECK_EQ(abi_parse(span_of_text(text), "abi", &abi, &err), -EBADMSG);
	CHECK_STR(err.text, "abi: offsetof_header_mtime is missing");
	CHECK_EQ(abi_parse(span_of(NULL, 0), "abi", &abi, &err), -EBADMSG);
}

/* Where the original is wrong: anon_start and cg_to_anon_start hold the upper half only, the CPU's
 * speed is lost. */
static const struct {
	const char *name;
	uint64_t anon_start, cg_to_anon_start, theirs_anon_start, theirs_cg_to_anon_start;
} recorded[] = {
	{ "flat", 0, 0, 0, 0 },
	{ "kernel", 0, 0, 0, 0 },
	{ "anon", 0x7f1234567000, 0, 0x7f12, 0 },
	{ "cg", 0, 0x7f1234567000, 0, 0x7f12 },
};

static void compare_headers(const struct sfile_header *a, const struct sfile_header *b)
{
	CHECK_EQ(a->version, b->version);
	CHECK_EQ(a->cpu_type, b->cpu_type);
	CHECK_EQ(a->event, b->event);
	CHECK_EQ(a->unit_mask, b->unit_mask);
	CHECK_EQ(a->count, b->count);
	CHECK_EQ(a->is_kernel, b->is_kernel);
	CHECK_EQ(a->mtime, b->mtime);
	CHECK_EQ(a->cg_to_is_kernel, b->cg_to_is_kernel);
}

static void compare_nodes(struct sfile *ours, struct sfile *theirs)
{
	const struct odb_node *a, *b;
	size_t n, m, i;

	a = odb_nodes(sfile_odb(ours), &n);
	b = odb_nodes(sfile_odb(theirs), &m);
	CHECK_EQ(n, m);
	CHECK_EQ(n, 999);
	for (i = 0; i < MIN(n, m); i++) {
		CHECK_EQ(a[i].key, b[i].key);
		CHECK_EQ(a[i].value, b[i].value);
	}
}

/* Below a {cg}: elsewhere a reader passes over the fields about callees. */
static char *path_of(const char *directory, const char *name)
{
	return xasprintf("%s/{root}/x/{dep}/{root}/x/{cg}/{root}/y/%s.1.0.all.all.1", directory,
			 name);
}

static void recorded_files_become_what_the_original_made(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_free_ char *abi_path = shared_path("interop/abi/powerpc/abi");
	struct error err = ERROR_INIT;
	struct abi abi;
	size_t i;

	if (!abi_path)
		SKIP(SHARED_MISSING);
	CHECK_EQ(abi_read(abi_path, &abi, &err), 0);
	CHECK(!abi_equal(&abi, abi_native()));
	for (i = 0; i < ARRAY_SIZE(recorded); i++) {
		_cleanup_(sfile_closep) struct sfile *ours = NULL, *theirs = NULL;
		_cleanup_free_ char *name = path_join("interop/abi/powerpc", recorded[i].name);
		_cleanup_free_ char *from = shared_path(name);
		_cleanup_free_ char *to = path_of(directory, recorded[i].name);
		_cleanup_free_ char *expected = xasprintf("%s.imported", from);
		_cleanup_free_ char *copy = xasprintf("%s2", to);
		struct import_stats stats = { 0 };

		CHECK_EQ(import_file(from, &abi, to, false, &stats, &err), 0);
		CHECK_EQ(stats.nodes, 999);
		CHECK_EQ(copy_file(expected, 0, copy, &err), 0);
		CHECK_EQ(sfile_open(to, &ours, &err), 0);
		CHECK_EQ(sfile_open(copy, &theirs, &err), 0);
		if (!ours || !theirs)
			continue;
		compare_headers(sfile_header(ours), sfile_header(theirs));
		compare_nodes(ours, theirs);
		CHECK(sfile_header(ours)->cpu_mhz == 2596.125);
		CHECK(sfile_header(theirs)->cpu_mhz == 0);
		CHECK_EQ(sfile_header(ours)->anon_start, recorded[i].anon_start);
		CHECK_EQ(sfile_header(theirs)->anon_start, recorded[i].theirs_anon_start);
		CHECK_EQ(sfile_header(ours)->cg_to_anon_start, recorded[i].cg_to_anon_start);
		CHECK_EQ(sfile_header(theirs)->cg_to_anon_start,
			 recorded[i].theirs_cg_to_anon_start);
	}
}

/* A foreign file in memory: 32-bit alignment, big-endian, one node, 8-byte values. */
static void make_foreign(struct abi *abi, uint8_t bytes[256])
{
	*abi = *abi_native();
	abi->of[ABI_LITTLE_ENDIAN] = 0;
	abi->of[ABI_SIZEOF_HEADER] = 64;
	abi->of[ABI_HEADER_CPU_SPEED] = 28;
	abi->of[ABI_HEADER_MTIME] = 36;
	abi->of[ABI_HEADER_CG_TO_IS_KERNEL] = 44;
	abi->of[ABI_HEADER_ANON_START] = 48;
	abi->of[ABI_HEADER_CG_TO_ANON_START] = 56;
	abi->of[ABI_SIZEOF_NODE] = 24;
	abi->of[ABI_SIZEOF_VALUE] = 8;
	abi->of[ABI_NODE_NEXT] = 16;
	memset(bytes, 0, 256);
	memcpy(bytes, "DAE\n\0\0\0\x13", 8);
	bytes[51] = 0x12;	    /* anon_start, its upper half */
	bytes[64 + 3] = 4;	    /* slots */
	bytes[64 + 7] = 2;	    /* of them in use */
	bytes[96 + 24 + 7] = 0x40;  /* key */
	bytes[96 + 24 + 8 + 3] = 1; /* value: 1 << 32 */
}

static void odd_layouts_are_read(void)
{
	struct error err = ERROR_INIT;
	struct import import;
	uint8_t bytes[256];
	struct abi abi;
	uint64_t key;
	uint32_t count;

	make_foreign(&abi, bytes);
	CHECK_EQ(import_open(span_of(bytes, sizeof(bytes)), &abi, "f", &import, &err), 0);
	CHECK_EQ(import.node_count, 1);
	CHECK_EQ(import.header.anon_start, 0x1200000000);
	import_node(&import, 0, &key, &count);
	CHECK_EQ(key, 0x40);
	CHECK_EQ(count, UINT32_MAX);
}

static void damaged_files_are_refused(void)
{
	static const struct {
		size_t size, at;
		uint8_t value;
		const char *message;
	} cases[] = {
		{ 0, 0, 'D', "f: cut short: no room for a header" },
		{ 63, 0, 'D', "f: cut short: no room for a header" },
		{ 95, 0, 'D', "f: cut short: no room for a header" },
		{ 96 + 47, 0, 'D', "f: cut short: 2 nodes in use, room for 1" },
		{ 256, 0, 'E', "f: not a sample file: no DAE in its header" },
		{ 256, 7, 0x11, "f: unknown version 0x11" },
		{ 256, 64 + 7, 0,
		  "f: 0 of 4 nodes in use: damaged, or its layout differs from the ABI "
		  "description" },
		{ 256, 64 + 7, 5,
		  "f: 5 of 4 nodes in use: damaged, or its layout differs from the ABI "
		  "description" },
		{ 256, 64 + 0, 4, NULL }, /* many slots are no harm where few are in use */
	};
	uint8_t bytes[256];
	struct abi abi;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error err = ERROR_INIT;
		struct import import;
		int r;

		make_foreign(&abi, bytes);
		bytes[cases[i].at] = cases[i].value;
		r = import_open(span_of(bytes, cases[i].size), &abi, "f", &import, &err);
		CHECK_EQ(r, cases[i].message ? -EBADMSG : 0);
		if (cases[i].message)
			CHECK_STR(err.text, cases[i].message);
	}
}

static void wrong_byte_order_is_said(void)
{
	struct error err = ERROR_INIT;
	struct import import;
	uint8_t bytes[256];
	struct abi abi;

	make_foreign(&abi, bytes);
	abi.of[ABI_LITTLE_ENDIAN] = 1;
	CHECK_EQ(import_open(span_of(bytes, sizeof(bytes)), &abi, "f", &import, &err), -EBADMSG);
	CHECK_STR(err.text, "f: its byte order differs from that of the ABI description");
}

TESTS(T(native_description_is_read_back), T(native_description_is_the_originals),
      T(impossible_descriptions_are_refused), T(missing_and_doubled_lines_are_named),
      T(recorded_files_become_what_the_original_made), T(odd_layouts_are_read),
      T(damaged_files_are_refused), T(wrong_byte_order_is_said))
