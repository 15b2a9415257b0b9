/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "file/account.h"
#include "test.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { USER = 12345, SUBORDINATE = 100000 };

/* A process that @begin has prepared, and that lives until it is killed. */
static pid_t start(bool (*begin)(int ready, int go), int *ret_ready, int *ret_go)
{
	int ready[2], go[2];
	pid_t pid;

	CHECK_EQ(pipe(ready), 0);
	CHECK_EQ(pipe(go), 0);
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(begin(ready[1], go[0]) && write(ready[1], "b", 1) == 1 ? pause() : 1);
	}
	*ret_ready = ready[0];
	*ret_go = go[1];
	(void)close(ready[1]);
	(void)close(go[0]);
	return pid;
}

static bool next(int fd)
{
	char c;

	return read(fd, &c, 1) == 1;
}

/* Becomes one of the uids that the user has in a namespace of his. */
static bool become_subordinate(int ready, int go)
{
	return setgroups(0, NULL) == 0 && setresuid(USER, USER, USER) == 0 &&
	       unshare(CLONE_NEWUSER) == 0 && write(ready, "a", 1) == 1 && next(go) &&
	       setuid(7) == 0;
}

static bool become_user(int ready _unused_, int go _unused_)
{
	return setresuid(USER, USER, USER) == 0;
}

static void the_maker_of_a_namespace_answers_for_it(void)
{
	char path[64];
	int ready, go, fd;
	pid_t pid;

	if (geteuid() != 0)
		SKIP("needs root");
	pid = start(become_subordinate, &ready, &go);
	if (!next(ready))
		SKIP("users may not make namespaces here");
	(void)snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	CHECK_EQ(dprintf(fd, "0 %d 100\n", SUBORDINATE), 13);
	(void)close(fd);
	CHECK_EQ(write(go, "c", 1), 1);
	CHECK(next(ready));
	CHECK_EQ(account_of_process("", (uint32_t)pid, SUBORDINATE + 7), USER);
	(void)kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	(void)close(ready);
	(void)close(go);
}

static void others_answer_for_themselves(void)
{
	int ready, go;
	pid_t pid;

	if (geteuid() != 0)
		SKIP("needs root");
	pid = start(become_user, &ready, &go);
	CHECK(next(ready));
	CHECK_EQ(account_of_process("", (uint32_t)pid, USER), USER);
	CHECK_EQ(account_of_process("/nowhere", (uint32_t)pid, USER), USER);
	(void)kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	(void)close(ready);
	(void)close(go);
}

TESTS(T(the_maker_of_a_namespace_answers_for_it), T(others_answer_for_themselves))
