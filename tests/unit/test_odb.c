/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shared.h"

#include "base/hash.h"
#include "sfile/odb.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { HEADER = 72, DESCRIPTOR = 32, NODE = 16 };

static uint64_t key_of(uint64_t i)
{
	return i * 7 % 13 == 0 ? i << 32 | i * 3 : i * 4;
}

static struct odb *open_db(const char *path, enum odb_mode mode)
{
	struct error err = ERROR_INIT;
	struct odb *db = NULL;

	if (odb_open(path, mode, HEADER, &db, &err) < 0) {
		test_check(false, err.text, __FILE__, __LINE__);
		abort();
	}
	return db;
}

static int try_open(const char *path, enum odb_mode mode, struct error *err)
{
	_cleanup_(odb_closep) struct odb *db = NULL;

	return odb_open(path, mode, HEADER, &db, err);
}

static uint8_t *read_file(const char *path, size_t *ret_size)
{
	char *text = NULL;
	ssize_t n = path_read(NULL, path, &text, NULL);

	*ret_size = n < 0 ? 0 : (size_t)n;
	return (uint8_t *)text;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	(void)close(fd);
}

static off_t file_size(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? -1 : st.st_size;
}

static off_t length_of(uint64_t size)
{
	return (off_t)(HEADER + DESCRIPTOR + 20 * size);
}

/* Adds keys from..to-1, each with a value that shows whose it is. */
static void add_keys(struct odb *db, uint64_t from, uint64_t to)
{
	for (; from < to; from++)
		CHECK_EQ(odb_add(db, key_of(from), (uint32_t)from + 1), 0);
}

/* Whether keys 0..n-1 are there with their values, as a writer sees them. */
static bool has_keys(const struct odb *db, uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++)
		if (odb_get(db, key_of(i)) != i + 1)
			return test_check(false, "a key is lost", __FILE__, __LINE__);
	return true;
}

static void a_new_file_is_the_smallest(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	_cleanup_(odb_closep) struct odb *db = open_db(path, ODB_WRITE);
	size_t n = 7;

	CHECK_EQ(file_size(path), 2664);
	CHECK_EQ(odb_mapped_bytes(db), 2664);
	(void)odb_nodes(db, &n);
	CHECK_EQ(n, 0);
	CHECK_EQ(odb_get(db, 0), 0);
	CHECK_EQ(odb_sync(db), 0);
}

static void the_known_keys_fall_into_the_known_buckets(void)
{
	static const struct {
		uint64_t key;
		uint32_t bucket;
	} rows[] = { { 0x11f90000010b, 98 }, { 0x10b00000e06, 2 }, { 0x112f, 62 } };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	_cleanup_(odb_closep) struct odb *db = open_db(path, ODB_WRITE);
	uint32_t *hash = (uint32_t *)((uint8_t *)odb_header(db) + HEADER + DESCRIPTOR + 128 * NODE);
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_EQ(odb_add(db, rows[i].key, 1), 0);
		CHECK_EQ(hash[rows[i].bucket], i + 1);
	}
}

static void adding_sums_and_keeps_the_order_of_insertion(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	_cleanup_(odb_closep) struct odb *db = open_db(path, ODB_WRITE);
	const struct odb_node *nodes;
	size_t n;

	CHECK_EQ(odb_add(db, 9, 1), 0);
	CHECK_EQ(odb_add(db, 0, 2), 0);
	CHECK_EQ(odb_add(db, 9, 40), 0);
	nodes = odb_nodes(db, &n);
	CHECK_EQ(n, 2);
	CHECK_EQ(nodes[0].key, 9);
	CHECK_EQ(nodes[0].value, 41);
	CHECK_EQ(nodes[1].key, 0);
	CHECK_EQ(nodes[1].value, 2);
}

static void values_saturate(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	_cleanup_(odb_closep) struct odb *db = open_db(path, ODB_WRITE);

	CHECK_EQ(odb_add(db, 1, UINT32_MAX - 1), 0);
	CHECK_EQ(odb_add(db, 1, 2), 0);
	CHECK_EQ(odb_get(db, 1), UINT32_MAX);
	CHECK_EQ(odb_add(db, 1, UINT32_MAX), 0);
	CHECK_EQ(odb_get(db, 1), UINT32_MAX);
}

static void add_survives_growth_and_reopening(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	struct odb *db = open_db(path, ODB_WRITE);

	add_keys(db, 0, 127);
	CHECK_EQ(file_size(path), length_of(128));
	add_keys(db, 127, 128);
	CHECK_EQ(file_size(path), length_of(256));
	add_keys(db, 128, 20000);
	CHECK(has_keys(db, 20000));
	odb_close(db);
	CHECK_EQ(file_size(path), length_of(32768));
	db = open_db(path, ODB_WRITE);
	CHECK(has_keys(db, 20000));
	add_keys(db, 20000, 40000);
	CHECK(has_keys(db, 40000));
	odb_close(db);
	db = open_db(path, ODB_READ);
	CHECK_EQ(odb_get(db, key_of(39999)), 40000);
	odb_close(db);
}

static void a_reader_follows_a_writer(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	_cleanup_(odb_closep) struct odb *db = open_db(path, ODB_WRITE);
	_cleanup_(odb_closep) struct odb *reader = open_db(path, ODB_READ);
	const struct odb_node *nodes;
	size_t n, i;

	add_keys(db, 0, 100);
	CHECK_EQ(odb_get(reader, key_of(99)), 100);
	/* Beyond its own end a reader sees nothing, and what it sees stays right. */
	add_keys(db, 100, 1000);
	nodes = odb_nodes(reader, &n);
	CHECK_EQ(n, 127);
	for (i = 0; i < n; i++)
		CHECK(nodes[i].key == key_of(i) && nodes[i].value == i + 1);
}

/* Short files and long ones, which are read in two ways; pages of the latter come back. */
static void a_reader_may_look_once(void)
{
	static const size_t counts[] = { 0, 100, 20000 };
	const struct odb_node *nodes;
	size_t row, n, i;

	for (row = 0; row < ARRAY_SIZE(counts); row++) {
		_cleanup_directory_ char *dir = test_directory();
		_cleanup_free_ char *path = path_join(dir, "f");
		_cleanup_(odb_closep) struct odb *db = open_db(path, ODB_WRITE);
		_cleanup_(odb_closep) struct odb *reader = NULL;

		add_keys(db, 0, counts[row]);
		reader = open_db(path, ODB_READ_ONCE);
		nodes = odb_nodes(reader, &n);
		CHECK_EQ(n, counts[row]);
		for (i = 0; i < n; i++) {
			if (i % 5000 == 4999)
				odb_forget(reader, i);
			if (!CHECK(nodes[i].key == key_of(i) && nodes[i].value == i + 1))
				break;
		}
		odb_forget(reader, SIZE_MAX);
		CHECK(n == 0 || nodes[0].key == key_of(0));
	}
}

static void slots_in_holes_are_refused(void)
{
	enum { SLOTS = 1 << 26 };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	struct error err = ERROR_INIT;
	uint32_t slots[2] = { SLOTS, SLOTS };
	int fd;

	odb_close(open_db(path, ODB_WRITE));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	CHECK_EQ(pwrite(fd, slots, sizeof(slots), HEADER), sizeof(slots));
	CHECK_EQ(ftruncate(fd, HEADER + 32 + (off_t)SLOTS * 20), 0);
	(void)close(fd);
	CHECK_EQ(try_open(path, ODB_READ_ONCE, &err), -EBADMSG);
	CHECK_EQ(try_open(path, ODB_WRITE, &err), -EBADMSG);
	CHECK(strstr(err.text, "(holes)"));
}

static void foreign_bytes_are_refused(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f"), *fifo = path_join(dir, "p");
	struct error err = ERROR_INIT;
	uint8_t bytes[2664];

	CHECK_EQ(try_open(path, ODB_READ, &err), -ENOENT);
	memset(bytes, 'x', sizeof(bytes));
	write_file(path, bytes, sizeof(bytes));
	CHECK_EQ(try_open(path, ODB_READ, &err), -EBADMSG);
	CHECK_EQ(try_open(path, ODB_WRITE, &err), -EBADMSG);
	CHECK(strstr(err.text, path) != NULL);
	write_file(path, bytes, 90);
	CHECK_EQ(try_open(path, ODB_READ, &err), -EBADMSG);
	CHECK_EQ(mkfifo(fifo, 0600), 0);
	CHECK_EQ(try_open(fifo, ODB_READ, &err), -EMEDIUMTYPE);
}

static void a_length_that_size_does_not_explain_is_refused(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	struct error err = ERROR_INIT;
	const off_t bad[] = { length_of(128) - 1, length_of(256) + 1, length_of(512), 104 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		(void)unlink(path);
		odb_close(open_db(path, ODB_WRITE));
		CHECK_EQ(truncate(path, bad[i]), 0);
		CHECK_EQ(try_open(path, ODB_READ, &err), -EINVAL);
		CHECK_EQ(try_open(path, ODB_WRITE, &err), -EINVAL);
	}
}

static void a_file_that_a_creator_left_blank_is_created_again(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	static const uint8_t zeros[2664];
	struct odb *db;

	write_file(path, zeros, 0);
	odb_close(open_db(path, ODB_WRITE));
	CHECK_EQ(file_size(path), 2664);
	write_file(path, zeros, sizeof(zeros));
	db = open_db(path, ODB_WRITE);
	add_keys(db, 0, 3);
	CHECK(has_keys(db, 3));
	odb_close(db);
}

static void creation_leaves_no_second_file_and_keeps_the_first(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	_cleanup_free_ uint8_t *bytes = NULL;
	struct error err = ERROR_INIT;
	char header[HEADER] = "header";
	size_t size;

	CHECK_EQ(odb_create(path, header, HEADER, &err), 0);
	CHECK_EQ(odb_create(path, header, HEADER, &err), -EEXIST);
	bytes = read_file(path, &size);
	CHECK_EQ(size, 2664);
	CHECK_STR((char *)bytes, "header");
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(rmdir(dir), 0);
	CHECK_EQ(mkdir(dir, 0700), 0);
}

/* A growth that was cut off while the file was being lengthened. */
static void an_interrupted_growth_is_undone(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	const off_t lengths[] = { length_of(128) + 1, length_of(200), length_of(256) };
	struct odb *db;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		(void)unlink(path);
		db = open_db(path, ODB_WRITE);
		add_keys(db, 0, 127);
		odb_close(db);
		CHECK_EQ(truncate(path, lengths[i]), 0);
		db = open_db(path, ODB_READ);
		CHECK(has_keys(db, 127));
		odb_close(db);
		db = open_db(path, ODB_WRITE);
		CHECK_EQ(file_size(path), length_of(128));
		add_keys(db, 127, 300);
		CHECK(has_keys(db, 300));
		odb_close(db);
	}
}

/* What only a crash of the whole machine can do to a file. */
static void damaged_chains_neither_crash_nor_hang(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	const uint32_t evil[] = { 1, 99, 127, 128, 0x7fffffff, UINT32_MAX };
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(evil); i++) {
		struct odb *db;
		uint32_t *hash;
		struct odb_node *nodes;

		(void)unlink(path);
		db = open_db(path, ODB_WRITE);
		add_keys(db, 0, 100);
		nodes = (struct odb_node *)((uint8_t *)odb_header(db) + HEADER + DESCRIPTOR);
		hash = (uint32_t *)(nodes + 128);
		for (j = 0; j < 128; j++)
			if (hash[j] < 100)
				hash[j] = evil[i];
		for (j = 1; j < 100; j++)
			nodes[j].next = evil[i];
		odb_close(db);
		db = open_db(path, ODB_WRITE);
		for (j = 0; j < 200; j++)
			CHECK_EQ(odb_add(db, key_of(j), 1), 0);
		CHECK(odb_get(db, key_of(50)) > 0);
		odb_close(db);
	}
}

/* Runs @body in a child; its exit status, or 255 if it was killed. */
static int in_child(int (*body)(const char *dir), const char *dir)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(body(dir));
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 255;
	return WEXITSTATUS(status);
}

/* Fills a file until it cannot grow, checks that this changed nothing, and goes on once it can. */
static int fill_until(const char *dir, int expected, int (*make_room)(const char *dir))
{
	_cleanup_free_ char *path = path_join(dir, "f");
	struct odb *db = open_db(path, ODB_WRITE);
	uint64_t n = 0;
	off_t length;
	int r = 0;

	while (n < 1 << 20 && (r = odb_add(db, key_of(n), (uint32_t)n + 1)) == 0)
		n++;
	if (r != expected || n < 127)
		return 2;
	length = file_size(path);
	if (length != length_of(n + 1) || odb_add(db, key_of(n), 1) != r ||
	    file_size(path) != length || !has_keys(db, n))
		return 3;
	if (odb_add(db, key_of(5), 1) != 0 || odb_get(db, key_of(5)) != 7)
		return 4;
	if (make_room(dir) < 0 || odb_add(db, key_of(n), 1) != 0 || odb_get(db, key_of(n)) != 1)
		return 5;
	odb_close(db);
	return 0;
}

static int lift_limit(const char *dir _unused_)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
		return -1;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_FSIZE, &limit);
}

static int fill_to_the_limit(const char *dir)
{
	struct rlimit limit;

	(void)signal(SIGXFSZ, SIG_IGN);
	if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
		return 77;
	limit.rlim_cur = 50000;
	if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
		return 77;
	return fill_until(dir, -EFBIG, lift_limit);
}

static int remove_ballast(const char *dir)
{
	_cleanup_free_ char *ballast = path_join(dir, "ballast");

	return unlink(ballast);
}

static int fill_the_disk(const char *dir)
{
	_cleanup_free_ char *ballast = path_join(dir, "ballast");
	static const char bytes[128 << 10];

	if (unshare(CLONE_NEWNS) < 0)
		return 77;
	(void)mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL);
	if (mount("tmpfs", dir, "tmpfs", 0, "size=256k") < 0)
		return 77;
	write_file(ballast, bytes, sizeof(bytes));
	return fill_until(dir, -ENOSPC, remove_ballast);
}

static void a_file_that_may_not_grow_is_left_as_it_was(void)
{
	_cleanup_directory_ char *dir = test_directory();
	int r = in_child(fill_to_the_limit, dir);

	if (r == 77)
		SKIP("cannot set the limit of file sizes");
	CHECK_EQ(r, 0);
}

static void a_full_disk_leaves_the_file_as_it_was(void)
{
	_cleanup_directory_ char *dir = test_directory();
	int r = in_child(fill_the_disk, dir);

	if (r == 77)
		SKIP("not root: cannot mount a small filesystem");
	CHECK_EQ(r, 0);
}

/* Writes the same inserts into a new file and compares all that is not garbage. */
static bool same_bytes_as_original(const char *path, const char *copy)
{
	size_t size, copied = 0, n, used, i;
	_cleanup_free_ uint8_t *theirs = read_file(path, &size), *ours = NULL;
	struct odb *db = open_db(path, ODB_READ), *to = NULL;
	struct error err = ERROR_INIT;
	const struct odb_node *nodes = odb_nodes(db, &n);

	(void)unlink(copy);
	CHECK_EQ(odb_create(copy, theirs, HEADER, &err), 0);
	to = open_db(copy, ODB_WRITE);
	for (i = 0; i < n; i++)
		CHECK_EQ(odb_add(to, nodes[i].key, nodes[i].value), 0);
	odb_close(to);
	odb_close(db);
	ours = read_file(copy, &copied);
	if (copied != size)
		return false;
	used = HEADER + DESCRIPTOR + NODE * (n + 1);
	i = HEADER + DESCRIPTOR + (size - HEADER - DESCRIPTOR) / 20 * NODE;
	return !memcmp(ours, theirs, used) && !memcmp(ours + i, theirs + i, size - i);
}

static void expect_same_bytes(const char *path)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *copy = path_join(dir, "copy");

	if (!CHECK(same_bytes_as_original(path, copy)))
		printf("# %s\n", path);
}

static void our_bytes_are_the_originals(void)
{
	if (!shared_samples(expect_same_bytes))
		SKIP(SHARED_MISSING);
}

TESTS(T(a_new_file_is_the_smallest), T(the_known_keys_fall_into_the_known_buckets),
      T(adding_sums_and_keeps_the_order_of_insertion), T(values_saturate),
      T(add_survives_growth_and_reopening), T(a_reader_follows_a_writer), T(a_reader_may_look_once),
      T(slots_in_holes_are_refused), T(foreign_bytes_are_refused),
      T(a_length_that_size_does_not_explain_is_refused),
      T(a_file_that_a_creator_left_blank_is_created_again),
      T(creation_leaves_no_second_file_and_keeps_the_first), T(an_interrupted_growth_is_undone),
      T(damaged_chains_neither_crash_nor_hang), T(a_file_that_may_not_grow_is_left_as_it_was),
      T(a_full_disk_leaves_the_file_as_it_was), T(our_bytes_are_the_originals))
