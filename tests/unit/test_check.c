/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shared.h"

#include "base/hash.h"
#include "sfile/check.h"
#include "sfile/sfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum {
	DESCRIPTOR = 72,
	NODES = 104,
	NODE = 16,
	KEYS = 100,
	SIZE = 128,
	TABLE = NODES + SIZE * NODE
};
enum { LENGTH = NODES + 20 * SIZE };

/* A file of 100 keys 0, 4, 8…, each counted once. */
static char *make_file(const char *dir)
{
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	const struct sfile_header header = { .cpu_type = 69, .event = 0x76, .count = 100000 };
	char *path = path_join(dir, "f");
	struct error err = ERROR_INIT;
	uint64_t i;

	(void)unlink(path);
	if (!CHECK(sfile_create(path, &header, &sf, &err) == 0))
		abort();
	for (i = 0; i < KEYS; i++)
		CHECK_EQ(odb_add(sfile_odb(sf), 4 * i, 1), 0);
	return path;
}

static void write_at(const char *path, size_t offset, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || pwrite(fd, bytes, size, (off_t)offset) != (ssize_t)size)
		abort();
	(void)close(fd);
}

static void write_u32(const char *path, size_t offset, uint32_t value)
{
	write_at(path, offset, &value, sizeof(value));
}

static size_t node_offset(uint32_t i)
{
	return NODES + (size_t)i * NODE;
}

static size_t bucket_offset(uint64_t key)
{
	return TABLE + (size_t)odb_bucket(key, SIZE - 1) * 4;
}

static void say(const struct check_result *r, const char *what)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;

	check_describe(r, &b);
	printf("# %s: %s\n", what, strbuf_text(&b));
}

/* Checks the file, and what it says of it; repairs it, after which nothing may be wrong and
 * @samples be left (-1: it cannot be repaired). */
static void check_damage(const char *path, const char *text, int64_t samples)
{
	_cleanup_(strbuf_done) struct strbuf b = STRBUF_INIT;
	struct error err = ERROR_INIT;
	struct check_result r;

	CHECK_EQ(check_file(path, CHECK_CHAINS, &r), 0);
	check_describe(&r, &b);
	CHECK_STR(strbuf_text(&b), text);
	CHECK_EQ(r.repairable, samples >= 0);
	CHECK_EQ(check_repair(path, &r, &err), samples >= 0 ? 0 : -EBADMSG);
	CHECK_EQ(check_file(path, CHECK_CHAINS, &r), 0);
	if (samples < 0) {
		CHECK(r.problems != 0);
		return;
	}
	CHECK_EQ(r.problems, 0);
	CHECK_EQ(r.samples, samples);
}

static void a_whole_file_is_whole(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = make_file(dir);
	struct check_result r;

	CHECK_EQ(check_file(path, CHECK_CHAINS, &r), 0);
	CHECK_EQ(r.problems, 0);
	CHECK_EQ(r.nodes, KEYS);
	CHECK_EQ(r.samples, KEYS);
	CHECK_EQ(check_repair(path, &r, NULL), 0);
	CHECK_EQ(r.problems, 0);
}

static void damage_of_a_killed_writer_is_reported_and_repaired(void)
{
	_cleanup_directory_ char *dir = test_directory();
	char *path = make_file(dir);

	write_u32(path, DESCRIPTOR + 4, KEYS);
	check_damage(path, "the writer died during an insertion", KEYS);
	free(path);
	path = make_file(dir);
	CHECK_EQ(truncate(path, LENGTH + 99), 0);
	check_damage(path, "the writer died while growing it", KEYS);
	free(path);
}

static void damaged_chains_are_reported_and_repaired(void)
{
	static const struct {
		size_t offset;
		uint32_t value;
		const char *text;
	} rows[] = {
		/* The head of a chain of two: lost, out of the table, in another's bucket, itself.
		 */
		{ TABLE + 4 * 4, 0, "2 nodes not in their chains" },
		{ TABLE + 4 * 4, 77777, "2 nodes not in their chains" },
		{ TABLE + 4 * 4, 1, "2 nodes not in their chains" },
		{ NODES + 2 * NODE + 12, 2, "chains are corrupt" },
		{ NODES + 2 * NODE + 12, 50, "chains are corrupt" },
		{ NODES + 2 * NODE + 12, UINT32_MAX, "chains are corrupt" },
	};
	_cleanup_directory_ char *dir = test_directory();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *path = make_file(dir);

		write_u32(path, rows[i].offset, rows[i].value);
		check_damage(path, rows[i].text, KEYS);
	}
}

static void twice_counted_keys_are_summed(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = make_file(dir);
	const uint64_t key = 8;
	struct check_result r;

	/* Node 100 gets the key of node 3. */
	write_at(path, node_offset(100), &key, sizeof(key));
	CHECK_EQ(check_file(path, CHECK_CHAINS, &r), 0);
	CHECK_EQ(r.count[CHECK_DUPLICATE], 1);
	CHECK_EQ(r.nodes, KEYS - 1);
	CHECK_EQ(check_repair(path, &r, NULL), 0);
	CHECK_EQ(check_file(path, CHECK_CHAINS, &r), 0);
	CHECK_EQ(r.problems, 0);
	CHECK_EQ(r.nodes, KEYS - 1);
	CHECK_EQ(r.samples, KEYS);
}

static void pages_never_written_are_reported_and_dropped(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = make_file(dir);
	static const uint8_t zeros[10 * NODE];
	struct check_result r;

	write_at(path, node_offset(20), zeros, sizeof(zeros));
	CHECK_EQ(check_file(path, CHECK_CHAINS, &r), 0);
	CHECK_EQ(r.count[CHECK_EMPTY], 10);
	CHECK(r.repairable);
	CHECK_EQ(check_repair(path, &r, NULL), 0);
	CHECK_EQ(check_file(path, CHECK_CHAINS, &r), 0);
	CHECK_EQ(r.problems, 0);
	CHECK_EQ(r.samples, KEYS - 10);
}

static void impossible_descriptors_are_made_up_from_the_rest(void)
{
	static const struct {
		uint32_t size, current;
	} rows[] = {
		{ 0, KEYS + 1 }, { 129, KEYS + 1 }, { SIZE, 0 }, { SIZE, 129 }, { 7, 7777777 }
	};
	_cleanup_directory_ char *dir = test_directory();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *path = make_file(dir);

		write_u32(path, DESCRIPTOR, rows[i].size);
		write_u32(path, DESCRIPTOR + 4, rows[i].current);
		check_damage(path, "impossible size or number of nodes", KEYS);
	}
}

static void a_file_cut_short_keeps_the_nodes_it_has(void)
{
	static const struct {
		off_t length;
		const char *text;
		int64_t samples;
	} rows[] = {
		{ LENGTH - 1, "wrong length", KEYS },
		{ NODES + (KEYS + 1) * NODE, "wrong length", KEYS },
		{ NODES + KEYS * NODE, "wrong length, 1 node missing", KEYS - 1 },
		{ NODES + 11 * NODE + 3, "wrong length, 90 nodes missing", 10 },
		{ NODES + NODE, "wrong length, 100 nodes missing", 0 },
		{ NODES, "wrong length, 100 nodes missing", -1 },
		{ 90, "wrong length", -1 },
		{ 79, "not a sample file", -1 },
		{ 0, "not a sample file", -1 },
		{ 3 * LENGTH, "wrong length", KEYS },
	};
	_cleanup_directory_ char *dir = test_directory();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *path = make_file(dir);

		CHECK_EQ(truncate(path, rows[i].length), 0);
		check_damage(path, rows[i].text, rows[i].samples);
	}
}

static void without_size_and_length_nothing_is_guessed(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = make_file(dir);

	write_u32(path, DESCRIPTOR, 77);
	CHECK_EQ(truncate(path, LENGTH - 1), 0);
	check_damage(path, "impossible size or number of nodes", -1);
}

static void a_foreign_file_is_reported_and_left_alone(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = make_file(dir);
	struct check_result r;

	write_at(path, 4, "\0\0\0\x13", 4);
	CHECK_EQ(check_file(path, CHECK_CHAINS, &r), 0);
	CHECK_EQ(r.problems, 1u << CHECK_FOREIGN);
	CHECK(strstr(r.why.text, "opimport") != NULL);
	check_damage(path, "from another kind of machine or version", -1);
	CHECK_EQ(check_file(dir, CHECK_CHAINS, &r), 0);
	CHECK_EQ(r.problems, 1u << CHECK_OTHER);
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(check_file(path, CHECK_CHAINS, &r), -ENOENT);
	CHECK(strstr(r.why.text, path) != NULL);
}

static void file_of_holes_is_not_read(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = make_file(dir);
	struct check_result r;

	CHECK_EQ(truncate(path, (off_t)1 << 40), 0);
	CHECK_EQ(check_file(path, CHECK_CHAINS, &r), 0);
	CHECK_EQ(r.problems, 1u << CHECK_OTHER);
	CHECK(strstr(r.why.text, "(holes)"));
}

static void a_repaired_file_keeps_its_header_and_mode(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = make_file(dir);
	_cleanup_(sfile_closep) struct sfile *sf = NULL;
	struct error err = ERROR_INIT;
	struct check_result r;
	struct stat st;

	CHECK_EQ(chmod(path, 0600), 0);
	write_u32(path, DESCRIPTOR + 4, 0);
	CHECK_EQ(check_repair(path, &r, &err), 0);
	CHECK(r.problems != 0);
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_mode & 07777, 0600);
	if (!CHECK(sfile_open(path, &sf, &err) == 0))
		return;
	CHECK_EQ(sfile_header(sf)->count, 100000);
	CHECK_EQ(odb_get(sfile_odb(sf), 4), 1);
}

static void a_repair_that_cannot_be_written_leaves_the_file(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = make_file(dir);
	_cleanup_free_ char *blocked = xasprintf("%s/.repair.%d", dir, (int)gettid());
	struct error err = ERROR_INIT;
	struct check_result r;

	/* A directory where the new file would be written. */
	CHECK_EQ(mkdir(blocked, 0755), 0);
	write_u32(path, DESCRIPTOR + 4, 0);
	CHECK(check_repair(path, &r, &err) < 0);
	CHECK_EQ(rmdir(blocked), 0);
	check_damage(path, "impossible size or number of nodes", KEYS);
}

static void under_a_writer_only_the_ends_are_judged(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = make_file(dir);
	struct check_result r;

	write_u32(path, bucket_offset(4 * 99), 0);
	CHECK_EQ(truncate(path, LENGTH + 99), 0);
	CHECK_EQ(check_file(path, CHECK_ENDS, &r), 0);
	CHECK_EQ(r.problems, 0);
	CHECK_EQ(r.samples, KEYS);
	write_u32(path, DESCRIPTOR, 3);
	CHECK_EQ(check_file(path, CHECK_ENDS, &r), 0);
	CHECK_EQ(r.problems, 1u << CHECK_DESCRIPTOR);
}

/* Any change of a file is reported or harmless, and a repair makes the file intact. */
static void random_damage_is_repaired_or_refused(void)
{
	_cleanup_directory_ char *dir = test_directory();
	uint64_t seed = 1, round;
	int i;

	for (round = 0; round < 400; round++) {
		_cleanup_free_ char *path = make_file(dir);
		struct error err = ERROR_INIT;
		struct check_result r;

		for (i = 0; i < 8; i++) {
			uint64_t h = hash_u64(seed++);
			size_t offset = DESCRIPTOR * (round % 4 > 0) + h % (LENGTH - DESCRIPTOR);

			write_at(path, offset, &h, 1 + (h >> 60) % 4);
		}
		CHECK_EQ(check_file(path, CHECK_CHAINS, &r), 0);
		if (check_repair(path, &r, &err) < 0)
			continue;
		CHECK_EQ(check_file(path, CHECK_CHAINS, &r), 0);
		if (!CHECK(r.problems == 0))
			say(&r, "still");
	}
}

static void expect_whole(const char *path)
{
	struct check_result r;

	CHECK_EQ(check_file(path, CHECK_CHAINS, &r), 0);
	if (!CHECK(r.problems == 0))
		say(&r, path);
}

static void the_originals_files_are_whole(void)
{
	if (!shared_samples(expect_whole))
		SKIP(SHARED_MISSING);
}

TESTS(T(a_whole_file_is_whole), T(damage_of_a_killed_writer_is_reported_and_repaired),
      T(damaged_chains_are_reported_and_repaired), T(twice_counted_keys_are_summed),
      T(pages_never_written_are_reported_and_dropped),
      T(impossible_descriptors_are_made_up_from_the_rest),
      T(a_file_cut_short_keeps_the_nodes_it_has), T(without_size_and_length_nothing_is_guessed),
      T(a_foreign_file_is_reported_and_left_alone), T(file_of_holes_is_not_read),
      T(a_repaired_file_keeps_its_header_and_mode),
      T(a_repair_that_cannot_be_written_leaves_the_file),
      T(under_a_writer_only_the_ends_are_judged), T(random_damage_is_repaired_or_refused),
      T(the_originals_files_are_whole))
