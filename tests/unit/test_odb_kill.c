/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A writer of a sample database dies at any moment: after every machine instruction of inserts,
 * growth and repair (a traced child goes step by step, and after each the file is what a kill would
 * leave), and by a real SIGKILL.
 */
#include "test.h"

#include "sfile/odb.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { HEADER = 72, FILE_MAX = 32 << 10, OTHER_KEY = 3 };

/* What the child says: how many keys it has been told are in. */
struct progress {
	volatile uint64_t acknowledged;
};

static uint64_t key_of(uint64_t i)
{
	return i * 4;
}

static struct progress *share(void)
{
	void *p = mmap(NULL, sizeof(struct progress), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

/* Whether the file at @path, opened by a new writer, has every acknowledged key once and with its
 * value, at most one more, and takes further ones. */
static bool is_whole(const char *path, uint64_t acknowledged)
{
	_cleanup_(odb_closep) struct odb *db = NULL;
	struct error err = ERROR_INIT;
	const struct odb_node *nodes;
	size_t n, i;

	if (odb_open(path, ODB_WRITE, HEADER, &db, &err) < 0)
		return test_check(false, err.text, __FILE__, __LINE__);
	nodes = odb_nodes(db, &n);
	if (n < acknowledged || n > acknowledged + 1)
		return test_check(false, "the number of nodes", __FILE__, __LINE__);
	for (i = 0; i < n; i++)
		if (nodes[i].key != key_of(i) || nodes[i].value != 1 || odb_get(db, key_of(i)) != 1)
			return test_check(false, "a key is lost", __FILE__, __LINE__);
	if (odb_add(db, OTHER_KEY, 1) < 0)
		return test_check(false, "no key can be added", __FILE__, __LINE__);
	for (i = 0; i < n; i++)
		if (odb_add(db, key_of(i), 1) < 0 || odb_get(db, key_of(i)) != 2)
			return test_check(false, "a key is not found", __FILE__, __LINE__);
	(void)odb_nodes(db, &i);
	if (i != n + 1)
		return test_check(false, "a key occurs twice", __FILE__, __LINE__);
	return true;
}

/* The file as it is now, in @bytes; its size. */
static size_t snapshot(int fd, uint8_t *bytes)
{
	ssize_t n = pread(fd, bytes, FILE_MAX, 0);

	return n < 0 ? 0 : (size_t)n;
}

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	(void)close(fd);
}

/* Opens the file and inserts keys up to @to, saying so after each. */
static void insert_keys(const char *path, struct progress *progress, uint64_t to)
{
	struct odb *db;

	if (odb_open(path, ODB_WRITE, HEADER, &db, NULL) < 0)
		_exit(2);
	while (progress->acknowledged < to) {
		if (odb_add(db, key_of(progress->acknowledged), 1) < 0)
			_exit(3);
		progress->acknowledged++;
	}
	_exit(0);
}

static pid_t start_traced(const char *path, struct progress *progress, uint64_t to)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(77);
		(void)raise(SIGSTOP);
		insert_keys(path, progress, to);
	}
	return pid;
}

/* Lets the child go one instruction further; false once it has ended. */
static bool step(pid_t pid, int *ret_status)
{
	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) < 0 || waitpid(pid, ret_status, 0) != pid)
		return false;
	return WIFSTOPPED(*ret_status);
}

/* Traces a writer of @path through every instruction until it has inserted @to keys; after each
 * that changed the file, opens a copy as its successor would. False if it cannot be traced. */
static bool check_every_step(const char *dir, const char *path, uint64_t acknowledged, uint64_t to)
{
	static uint8_t now[FILE_MAX], before[FILE_MAX];
	_cleanup_free_ char *copy = path_join(dir, "copy");
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct progress *progress = share();
	size_t size, size_before = 0;
	unsigned int states = 0;
	pid_t pid;
	int status = 0;

	progress->acknowledged = acknowledged;
	pid = start_traced(path, progress, to);
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return false;
	while (step(pid, &status)) {
		size = snapshot(fd, now);
		if (size == size_before && !memcmp(now, before, size))
			continue;
		memcpy(before, now, size);
		size_before = size;
		states++;
		write_file(copy, now, size);
		if (!is_whole(copy, progress->acknowledged)) {
			printf("# state %u, %ju acknowledged\n", states,
			       (uintmax_t)progress->acknowledged);
			(void)kill(pid, SIGKILL);
			(void)waitpid(pid, &status, 0);
			break;
		}
	}
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK_EQ(progress->acknowledged, to);
	CHECK(states > to - acknowledged);
	(void)munmap(progress, sizeof(*progress));
	return true;
}

/* A file with @n keys. */
static char *make_file(const char *dir, uint64_t n)
{
	char *path = path_join(dir, "f");
	_cleanup_(odb_closep) struct odb *db = NULL;
	uint64_t i;

	if (odb_open(path, ODB_WRITE, HEADER, &db, NULL) < 0)
		abort();
	for (i = 0; i < n; i++)
		if (odb_add(db, key_of(i), 1) < 0)
			abort();
	return path;
}

static void no_instruction_of_insert_and_growth_loses_a_key(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = make_file(dir, 120);

	if (!check_every_step(dir, path, 120, 135))
		SKIP("cannot trace a child");
}

/* Makes of a full file what a writer leaves that dies during its growth: half of the nodes
 * in new chains, half in the old ones. */
static void grow_halfway(const char *path)
{
	static uint8_t bytes[HEADER + 32 + 20 * 256];
	struct odb_node *nodes = (struct odb_node *)(bytes + HEADER + 32);
	uint32_t *hash = (uint32_t *)(nodes + 256), i;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, bytes, sizeof(bytes)) != HEADER + 32 + 20 * 128)
		abort();
	(void)close(fd);
	for (i = 1; i < 64; i++) {
		uint32_t *head = &hash[(nodes[i].key ^ nodes[i].key >> 8) & 255];

		nodes[i].next = *head;
		*head = i;
	}
	write_file(path, bytes, sizeof(bytes));
}

static void no_instruction_of_a_repair_loses_a_key(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = make_file(dir, 127);

	grow_halfway(path);
	if (!check_every_step(dir, path, 127, 128))
		SKIP("cannot trace a child");
}

/* Kills a writer once it has said @after keys; where it then is, chance decides. */
static void kill_writer(const char *path, struct progress *progress, uint64_t after)
{
	pid_t pid;
	int status;

	progress->acknowledged = 0;
	pid = fork();
	if (pid == 0)
		insert_keys(path, progress, UINT32_MAX);
	while (progress->acknowledged < after && waitpid(pid, &status, WNOHANG) == 0)
		;
	CHECK_EQ(kill(pid, SIGKILL), 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status));
}

static void a_killed_writer_loses_at_most_the_insert_it_was_in(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "f");
	struct progress *progress = share();
	uint64_t after;

	for (after = 1; after < 20000; after += 1 + after / 3) {
		(void)unlink(path);
		kill_writer(path, progress, after);
		if (!CHECK(is_whole(path, progress->acknowledged)))
			printf("# killed after %ju\n", (uintmax_t)progress->acknowledged);
	}
	(void)munmap(progress, sizeof(*progress));
}

TESTS(T(no_instruction_of_insert_and_growth_loses_a_key), T(no_instruction_of_a_repair_loses_a_key),
      T(a_killed_writer_loses_at_most_the_insert_it_was_in))
