/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/seccomp_confine.h"
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* The little that the tests, sanitizers included, go on with. */
static const struct seccomp_confine_call calls[] = {
	{ "write" },
	{ "exit_group" },
	{ "rt_sigreturn" },
	{ "futex" },
	{ "exit" },
	{ "rt_sigprocmask" },
	{ "sched_yield" },
	{ "madvise" },
	{ "munmap" },
	{ "sigaltstack" },
	{ "no_such_call" },
	{ "mmap", SECCOMP_CONFINE_WITHOUT(2, PROT_EXEC) },
	{ "getpid" },
	{ "socket", SECCOMP_CONFINE_IS(0, AF_UNIX) },
	{ "socket", SECCOMP_CONFINE_IS(0, AF_NETLINK) },
	{ "lseek", SECCOMP_CONFINE_MASKED(1, 5ULL << 32 | 6, 1ULL << 32 | 2), true, 2, 3, 1 },
	{ "lseek", SECCOMP_CONFINE_MASKED(2, 0xf0, 0x10) },
};

static char said[256];

static void say(const char *name, int number _unused_)
{
	(void)strncat(said, name, sizeof(said) - strlen(said) - 2);
	(void)strcat(said, ";");
}

/* Runs @body in a process of its own that is confined; 0 if all it checks is so. */
static int in_confinement(int (*body)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		size_t count = 0;

		if (seccomp_confine_enter(calls, ARRAY_SIZE(calls), say, &count, NULL) < 0)
			_exit(100);
		/* One of this machine's is missing, two are listed twice. */
		_exit(count != ARRAY_SIZE(calls) - 3 ? 101 : body());
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int refuse_once(void)
{
	if (syscall(SYS_getppid) != -1 || errno != EPERM || strcmp(said, "getppid;") != 0)
		return 1;
	if (syscall(SYS_getppid) != -1 || errno != EPERM || strcmp(said, "getppid;") != 0)
		return 2;
	return syscall(SYS_getpid) > 0 ? 0 : 3;
}

static int refuse_by_argument(void)
{
	if (syscall(SYS_socket, AF_INET, SOCK_DGRAM, 0) != -1 || errno != EPERM)
		return 1;
	if (syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0) < 0 ||
	    syscall(SYS_socket, AF_NETLINK, SOCK_RAW, 0) < 0)
		return 2;
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	    MAP_FAILED)
		return 3;
	return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? 4
											     : 0;
}

/* The kernel finds no such file, or does not look for it. */
static int refuse_by_parts_of_arguments(void)
{
	static const struct {
		uint64_t offset, whence;
		int error;
	} cases[] = {
		{ 1ULL << 32 | 2, 1, EBADF },
		{ 0xaULL << 32 | 0x1b, 5, EPERM },
		{ 0xfbULL << 32 | 0xfb, 0xd, EBADF },
		{ 1ULL << 32 | 2, 2, EPERM },
		{ 1ULL << 32 | 6, 1, EPERM },
		{ 2, 1, EPERM },
		{ 5ULL << 32 | 2, 1, EPERM },
		{ 0, 0x10, EBADF },
		{ 0, 0x21, EPERM },
		{ 0, 0xf10, EBADF },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (syscall(SYS_lseek, -1, cases[i].offset, cases[i].whence) != -1 ||
		    errno != cases[i].error)
			return (int)i + 1;
	return 0;
}

static int refuse_processes(void)
{
	if (syscall(SYS_clone3, NULL, 0) != -1 || errno != ENOSYS)
		return 1;
	return syscall(SYS_execve, "/bin/true", NULL, NULL) == -1 && errno == EPERM ? 0 : 2;
}

static int thread_runs, thread_go, thread_result;

static void *refused_in_thread(void *data)
{
	__atomic_store_n(&thread_runs, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&thread_go, __ATOMIC_ACQUIRE))
		(void)sched_yield();
	thread_result = syscall(SYS_getppid) == -1 && errno == EPERM;
	return data;
}

static void a_call_that_is_not_listed_fails_and_is_reported_once(void)
{
	if (!seccomp_confine_can())
		SKIP("built without libseccomp");
	CHECK_EQ(in_confinement(refuse_once), 0);
}

static void arguments_decide(void)
{
	if (!seccomp_confine_can())
		SKIP("built without libseccomp");
	CHECK_EQ(in_confinement(refuse_by_argument), 0);
}

static void masks_and_two_arguments_decide(void)
{
	if (!seccomp_confine_can())
		SKIP("built without libseccomp");
	CHECK_EQ(in_confinement(refuse_by_parts_of_arguments), 0);
}

static void nothing_new_is_run(void)
{
	if (!seccomp_confine_can())
		SKIP("built without libseccomp");
	CHECK_EQ(in_confinement(refuse_processes), 0);
}

static void threads_that_run_already_are_confined(void)
{
	int status = 0;
	pid_t pid;

	if (!seccomp_confine_can())
		SKIP("built without libseccomp");
	pid = fork();
	if (pid == 0) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, refused_in_thread, NULL) != 0)
			_exit(100);
		while (!__atomic_load_n(&thread_runs, __ATOMIC_ACQUIRE))
			(void)sched_yield();
		if (seccomp_confine_enter(calls, ARRAY_SIZE(calls), say, NULL, NULL) < 0)
			_exit(101);
		__atomic_store_n(&thread_go, 1, __ATOMIC_RELEASE);
		(void)pthread_join(thread, NULL);
		_exit(thread_result ? 0 : 1);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

TESTS(T(a_call_that_is_not_listed_fails_and_is_reported_once), T(arguments_decide),
      T(masks_and_two_arguments_decide), T(nothing_new_is_run),
      T(threads_that_run_already_are_confined))
