/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shared.h"

#include "sfile/sfile.h"

#include <errno.h>
#include <fcntl.h>

static const struct sfile_header full = {
	.version = 0x13,
	.cpu_type = 69,
	.event = 0x76,
	.unit_mask = 0x41,
	.count = 100000,
	.is_kernel = true,
	.cg_to_is_kernel = true,
	.cpu_mhz = 2596.096,
	.mtime = 1795162024,
	.anon_start = 0x7f1234567000,
	.cg_to_anon_start = 0xffffffff81000000,
};
#define FLAT  "{root}/a/{dep}/{root}/b/E.100000.65.all.all.all"
#define GRAPH "{root}/a/{dep}/{root}/b/{cg}/{root}/{cg}/c/E.100000.65.all.all.all"

static bool headers_equal(const struct sfile_header *a, const struct sfile_header *b)
{
	return a->version == b->version && a->cpu_type == b->cpu_type && a->event == b->event &&
	       a->unit_mask == b->unit_mask && a->count == b->count &&
	       a->is_kernel == b->is_kernel && a->cg_to_is_kernel == b->cg_to_is_kernel &&
	       a->cpu_mhz == b->cpu_mhz && a->mtime == b->mtime && a->anon_start == b->anon_start &&
	       a->cg_to_anon_start == b->cg_to_anon_start;
}

static int create(const char *path, const struct sfile_header *header, uint64_t key,
		  struct error *err)
{
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	int r = sfile_create(path, header, &sf, err);

	return r < 0 ? r : odb_add(sfile_odb(sf), key, 1);
}

static int try_open(const char *path, struct error *err)
{
	_cleanup_(sfile_closep) struct sfile *sf = NULL;

	return sfile_open(path, &sf, err);
}

static void write_at(const char *path, size_t offset, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || pwrite(fd, bytes, size, (off_t)offset) != (ssize_t)size)
		abort();
	(void)close(fd);
}

static void what_is_written_is_read(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, GRAPH);
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	struct error err = ERROR_INIT;

	CHECK_EQ(create(path, &full, 7, &err), 0);
	if (!CHECK(sfile_open(path, &sf, &err) == 0))
		return;
	CHECK(headers_equal(sfile_header(sf), &full));
	CHECK_EQ(odb_get(sfile_odb(sf), 7), 1);
}

static void callgraph_fields_count_in_callgraph_files_only(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, FLAT);
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	struct error err = ERROR_INIT;

	CHECK_EQ(create(path, &full, 7, &err), 0);
	if (!CHECK(sfile_open(path, &sf, &err) == 0))
		return;
	CHECK_EQ(sfile_header(sf)->cg_to_anon_start, 0);
	CHECK_EQ(sfile_header(sf)->cg_to_is_kernel, 0);
	CHECK_EQ(sfile_header(sf)->anon_start, full.anon_start);
}

static void a_file_is_added_to_and_its_header_renewed(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, FLAT);
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	struct sfile_header newer = full;
	struct error err = ERROR_INIT;

	newer.mtime++;
	CHECK_EQ(create(path, &full, 7, &err), 0);
	CHECK_EQ(create(path, &newer, 7, &err), 0);
	if (!CHECK(sfile_open(path, &sf, &err) == 0))
		return;
	CHECK_EQ(sfile_header(sf)->mtime, newer.mtime);
	CHECK_EQ(odb_get(sfile_odb(sf), 7), 2);
}

static void other_samples_are_not_mixed_in(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, FLAT);
	struct sfile_header rows[] = { full, full, full, full };
	struct error err = ERROR_INIT;
	size_t i;

	rows[0].cpu_type++;
	rows[1].event++;
	rows[2].unit_mask++;
	rows[3].count++;
	CHECK_EQ(create(path, &full, 7, &err), 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_EQ(create(path, &rows[i], 7, &err), -EBADMSG);
		CHECK(strstr(err.text, path) != NULL);
	}
}

static void the_clock_is_the_same_on_every_cpu(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, FLAT);
	struct sfile_header clock = { .cpu_type = 4 }, elsewhere = { .cpu_type = 69 };
	struct error err = ERROR_INIT;

	CHECK_EQ(create(path, &clock, 7, &err), 0);
	CHECK_EQ(create(path, &elsewhere, 7, &err), 0);
}

static void a_file_left_blank_is_created_again(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	static const uint8_t zeros[2664];
	struct error err = ERROR_INIT;

	write_at(path, 0, zeros, sizeof(zeros));
	CHECK_EQ(try_open(path, &err), -EBADMSG);
	CHECK_EQ(create(path, &full, 7, &err), 0);
	CHECK_EQ(try_open(path, &err), 0);
}

static void every_damage_is_reported(void)
{
	static const struct {
		size_t offset, size;
		const char *bytes, *says;
	} rows[] = {
		{ 0, 1, "X", "does not start with DAE" },
		{ 4, 4, "\0\0\0\x13", "byte order; convert it with opimport" },
		{ 4, 4, "\0\0\0\x12", "byte order; convert it with opimport" },
		{ 4, 1, "\x11", "OProfile 0.9.7 or older" },
		{ 4, 1, "\x14", "version 0x14" },
		{ 64, 16, "\x80\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0", "32-bit" },
		{ 72, 4, "\x81\0\0\0", "not a sample database" },
		{ 72, 4, "\0\1\0\0", "bytes long" },
		{ 76, 4, "\x81\0\0\0", "not a sample database" },
	};
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error err = ERROR_INIT;

		(void)unlink(path);
		CHECK_EQ(create(path, &full, 7, &err), 0);
		write_at(path, rows[i].offset, rows[i].bytes, rows[i].size);
		CHECK(try_open(path, &err) < 0);
		if (!CHECK(strstr(err.text, rows[i].says) != NULL))
			printf("# row %zu: %s\n", i, err.text);
		CHECK(strstr(err.text, path) != NULL);
	}
}

static void short_and_missing_files_are_reported(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	struct error err = ERROR_INIT;
	off_t length;

	CHECK_EQ(try_open(path, &err), -ENOENT);
	CHECK_EQ(try_open(dir, &err), -EISDIR);
	CHECK_EQ(create(path, &full, 7, &err), 0);
	for (length = 2663; length >= 0; length--) {
		CHECK_EQ(truncate(path, length), 0);
		CHECK(try_open(path, &err) < 0);
	}
}

/* Version 0x12 as oprofiled 0.9.9 wrote it: 88 bytes, the last fields moved. */
static void version_0x12_is_read_and_not_written(void)
{
	static const struct {
		uint32_t magic, version, cpu_type, event, unit_mask, count, is_kernel, pad;
		double mhz;
		uint64_t mtime;
		uint32_t cg_to_is_kernel, spu;
		uint64_t embedded_offset, anon_start, cg_to_anon_start, reserved;
		uint32_t size, current, zero[6];
	} old = { .magic = 0x0a454144,
		  .version = 0x12,
		  .cpu_type = 69,
		  .event = 0x76,
		  .unit_mask = 0x41,
		  .count = 100000,
		  .is_kernel = 1,
		  .mhz = 2596.096,
		  .mtime = 1795162024,
		  .cg_to_is_kernel = 1,
		  .embedded_offset = UINT64_MAX,
		  .anon_start = 0x7f1234567000,
		  .cg_to_anon_start = 0xffffffff81000000,
		  .size = 128,
		  .current = 1 };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, GRAPH);
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	struct sfile_header expected = full;
	struct error err = ERROR_INIT;

	CHECK_EQ(path_make_parents(path, 0755, &err), 0);
	write_at(path, 0, &old, sizeof(old));
	CHECK_EQ(truncate(path, 120 + 20 * 128), 0);
	expected.version = 0x12;
	expected.cpu_type = 57;
	if (CHECK(sfile_open(path, &sf, &err) == 0))
		CHECK(headers_equal(sfile_header(sf), &expected));
	CHECK_EQ(create(path, &full, 7, &err), -EBADMSG);
	CHECK(strstr(err.text, "not added to") != NULL);
}

static void the_originals_header_is_read(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *data = shared_sessions(dir), *path = NULL;
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	const struct sfile_header *h;
	struct error err = ERROR_INIT;

	if (!data)
		SKIP(SHARED_MISSING);
	path = path_join(data, "flat/samples/current/{root}/opt/interop/src/wl/{dep}/{root}/opt/"
			       "interop/src/libwl.so/CPU_CLK_UNHALTED.100000.0.all.all.all");
	if (!CHECK(sfile_open(path, &sf, &err) == 0))
		return;
	h = sfile_header(sf);
	CHECK_EQ(h->cpu_type, 69);
	CHECK_EQ(h->event, 0x76);
	CHECK_EQ(h->count, 100000);
	CHECK(h->cpu_mhz > 2596 && h->cpu_mhz < 2597);
	CHECK(h->mtime > 1700000000);
	CHECK(!h->is_kernel);
}

/* A file with the header and the counts of the original's has its bytes. Bytes that the original
 * left as they were are set to 0 in both. */
static void the_originals_file_is_written_bit_for_bit(void)
{
	static const struct {
		size_t at, size;
	} unset[] = { { 28, 4 }, { 48, 8 }, { 64, 8 } };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *data = shared_sessions(dir), *path = NULL, *theirs = NULL,
			    *ours = NULL, *copy = path_join(dir, FLAT);
	_cleanup_(sfile_closep) struct sfile *sf = NULL, *written = NULL;
	const struct odb_node *nodes;
	ssize_t size;
	size_t i, n;

	if (!data)
		SKIP(SHARED_MISSING);
	path = path_join(data, "flat/samples/current/{root}/opt/interop/src/wl/{dep}/{root}/opt/"
			       "interop/src/libwl.so/CPU_CLK_UNHALTED.100000.0.all.all.all");
	if (!CHECK(sfile_open(path, &sf, NULL) == 0) ||
	    !CHECK(sfile_create(copy, sfile_header(sf), &written, NULL) == 0))
		return;
	nodes = odb_nodes(sfile_odb(sf), &n);
	for (i = 0; i < n; i++)
		CHECK_EQ(odb_add(sfile_odb(written), nodes[i].key, nodes[i].value), 0);
	size = path_read(NULL, path, &theirs, NULL);
	CHECK(n > 2 && size > 0);
	CHECK_EQ(path_read(NULL, copy, &ours, NULL), size);
	for (i = 0; i < ARRAY_SIZE(unset); i++) {
		memset(theirs + unset[i].at, 0, unset[i].size);
		memset(ours + unset[i].at, 0, unset[i].size);
	}
	CHECK(!memcmp(ours, theirs, (size_t)size));
}

/* A power cut in the middle of growth: the descriptor of the longer file is on the disk, the end of
 * the file is not. */
static void a_writer_repairs_what_a_power_cut_left(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, FLAT);
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	const off_t length = 72 + 32 + 128 * 20;
	struct error err = ERROR_INIT;
	size_t n;
	uint64_t key;

	CHECK_EQ(create(path, &full, 1, &err), 0);
	for (key = 2; key <= 200; key++)
		CHECK_EQ(create(path, &full, key, &err), 0);
	CHECK_EQ(truncate(path, length), 0);
	CHECK_EQ(try_open(path, &err), -EINVAL);
	CHECK_EQ(sfile_create(path, &full, &sf, &err), 0);
	(void)odb_nodes(sfile_odb(sf), &n);
	CHECK_EQ(n, (length - 72 - 32) / 16 - 1);
	CHECK_EQ(odb_get(sfile_odb(sf), 100), 1);
	CHECK_EQ(odb_add(sfile_odb(sf), 1000, 1), 0);
}

static void a_foreign_machines_files_name_the_converter(void)
{
	static const char *const names[] = { "flat", "kernel", "anon", "cg" };
	_cleanup_free_ char *abi = shared_path("interop/abi/powerpc");
	size_t i;

	if (!abi)
		SKIP(SHARED_MISSING);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_free_ char *path = path_join(abi, names[i]);
		_cleanup_free_ char *imported = xasprintf("%s.imported", path);
		struct error err = ERROR_INIT;

		CHECK_EQ(try_open(path, &err), -EBADMSG);
		CHECK(strstr(err.text, "opimport") != NULL);
		CHECK_EQ(try_open(imported, &err), 0);
	}
}

TESTS(T(what_is_written_is_read), T(callgraph_fields_count_in_callgraph_files_only),
      T(a_file_is_added_to_and_its_header_renewed), T(other_samples_are_not_mixed_in),
      T(the_clock_is_the_same_on_every_cpu), T(a_file_left_blank_is_created_again),
      T(every_damage_is_reported), T(short_and_missing_files_are_reported),
      T(version_0x12_is_read_and_not_written), T(the_originals_header_is_read),
      T(the_originals_file_is_written_bit_for_bit), T(a_foreign_machines_files_name_the_converter),
      T(a_writer_repairs_what_a_power_cut_left))
