/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tools/common/confine.c: what a child can do that a hostile file took over, and how it may end. */
#include "test.h"

#include "symbol/kallsyms.h"
#include "tools/common/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static char *inside, *outside; /* directories; the child may write in the first */

static bool may_write(const char *directory)
{
	_cleanup_free_ char *file = path_join(directory, "new");

	return path_write(file, "x", 0600, NULL) == 0;
}

static int read_and_print(void)
{
	_cleanup_close_ int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	char byte;

	return fd >= 0 && read(fd, &byte, 1) == 1 && may_write(inside) ? 0 : 1;
}

/* A session of another tool has no copy of the kernel's symbols. */
static int read_running_kernel(void)
{
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;

	return kallsyms_load_live(inside, &k, NULL) < 0 || kallsyms_image_count(k) != 1;
}

static int write_elsewhere(void)
{
	return may_write(outside);
}

static int open_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
}

static int start_process(void)
{
	return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) >= 0;
}

static int run_program(void)
{
	(void)execl("/bin/true", "true", NULL);
	return errno != EPERM && errno != EACCES;
}

static int signal_parent(void)
{
	return kill(getppid(), 0) == 0;
}

static int become_root(void)
{
	return setuid(0) == 0 || unshare(CLONE_NEWUSER) == 0;
}

/* Whatever the test has, only four may be left. */
static int keep_capabilities(void)
{
	_cleanup_free_ char *text = NULL;
	const uint64_t kept = 1ULL << CAP_DAC_OVERRIDE | 1ULL << CAP_DAC_READ_SEARCH |
			      1ULL << CAP_SYS_RAWIO | 1ULL << CAP_SYSLOG;
	uint64_t left = UINT64_MAX;

	if (path_read(NULL, "/proc/self/status", &text, NULL) > 0)
		(void)sscanf(strstr(text, "CapPrm:"), "CapPrm: %" SCNx64, &left);
	return (left & ~kept) != 0;
}

/* Runs @act in a confined child; the status that the tool would exit with. */
static int status_of(int (*act)(void))
{
	struct confine c = { .writable = { inside } };
	int r = confine_enter(&c, NULL);

	if (r == 0)
		_exit(c.reading ? act() : 99);
	CHECK_EQ(r, 1);
	return c.status;
}

static void put_kernel(const char *root)
{
	_cleanup_free_ char *path = path_join(root, "proc/kallsyms");

	CHECK_EQ(path_make_parents(path, 0755, NULL), 0);
	CHECK_EQ(path_write(path, "ffffffff81000000 T _text\nffffffff81001000 T _etext\n", 0644,
			    NULL),
		 0);
}

static void child_reads_and_prints_only(void)
{
	static const struct {
		const char *name;
		int (*act)(void);
		bool by_filter; /* of system calls, which a build with sanitizers has not */
	} acts[] = {
		{ "read and print", read_and_print, false },
		{ "read the running kernel", read_running_kernel, false },
		{ "write elsewhere", write_elsewhere, false },
		{ "open a socket", open_socket, true },
		{ "start a process", start_process, true },
		{ "signal the parent", signal_parent, true },
		{ "become root", become_root, true },
		{ "run a program", run_program, false },
		{ "keep capabilities", keep_capabilities, false },
	};
	size_t i;

	inside = test_directory();
	outside = test_directory();
	put_kernel(inside);
	(void)setenv("OPROFILE_SANDBOX", "yes", 1);
	for (i = 0; i < ARRAY_SIZE(acts); i++) {
		bool skipped = SANITIZED && acts[i].by_filter;
		int status = skipped ? 0 : status_of(acts[i].act);

		if (status != 0)
			printf("# %s: %d\n", acts[i].name, status);
		CHECK_EQ(status, 0);
	}
	test_directory_donep(&inside);
	test_directory_donep(&outside);
}

/* Ends by the signal @signal while an image is read; returns what the parent says. */
static char *words_of_end(int signal)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_free_ char *path = path_join(directory, "said");
	const struct sigaction ours = { .sa_handler = SIG_DFL };
	struct confine c = { .writable = { NULL } };
	int said = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), before = dup(STDERR_FILENO);
	char *text = NULL;

	(void)setenv("OPROFILE_SANDBOX", "yes", 1);
	(void)dup2(said, STDERR_FILENO);
	if (confine_enter(&c, NULL) == 0) {
		(void)strcpy(c.reading, "/usr/bin/hostile\n");
		if (signal == 0)
			mem_exhausted();
		(void)sigaction(signal, &ours, NULL); /* not that of a sanitizer */
		(void)raise(signal);
		_exit(0);
	}
	(void)dup2(before, STDERR_FILENO);
	(void)close(before);
	(void)close(said);
	CHECK_EQ(c.status, signal ? 1 : MEM_EXHAUSTED);
	CHECK(path_read(NULL, path, &text, NULL) > 0);
	return text;
}

static void end_by_signal_names_image_and_reason(void)
{
	static const struct {
		int signal;
		const char *said;
	} rows[] = {
		{ SIGSEGV, "crashed (Segmentation fault)" },
		{ 0, "ran out of memory; its limit is " },
		{ SIGABRT, "crashed (Aborted)" },
		{ SIGXCPU, "took more than 600 s of CPU time; --sandbox=no has no" },
		{ SIGKILL, "was killed, perhaps because the machine ran out of memory" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text = words_of_end(rows[i].signal);

		CHECK(strstr(text, "/usr/bin/hostile\\x0a: the process that reads files "));
		CHECK(strstr(text, rows[i].said));
	}
}

/* The limit itself, at a second. */
static void busy_child_is_ended(void)
{
	struct rlimit before, second;
	struct confine c = { .writable = { NULL } };

	CHECK_EQ(getrlimit(RLIMIT_CPU, &before), 0);
	second = (struct rlimit){ 1, before.rlim_max };
	CHECK_EQ(setrlimit(RLIMIT_CPU, &second), 0);
	(void)setenv("OPROFILE_SANDBOX", "yes", 1);
	if (confine_enter(&c, NULL) == 0)
		for (;;)
			__asm__ volatile("");
	CHECK_EQ(setrlimit(RLIMIT_CPU, &before), 0);
	CHECK_EQ(c.status, 1);
}

static void refusal_leaves_this_process(void)
{
	struct confine c = { .writable = { NULL } };

	(void)setenv("OPROFILE_SANDBOX", "no", 1);
	CHECK_EQ(confine_enter(&c, NULL), 0);
	CHECK(!c.reading);
}

TESTS(T(child_reads_and_prints_only), T(end_by_signal_names_image_and_reason),
      T(busy_child_is_ended), T(refusal_leaves_this_process))
