/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "helper/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a child finds. */
struct found {
	int descriptors;
	bool has_session, is_ignored, is_handled, is_blocked;
	char name[16], directory[16];
};

static int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (dir && readdir(dir))
		count++;
	(void)closedir(dir);
	return count - 3; /* without ".", ".." and its own */
}

static void on_signal(int number _unused_)
{
}

static void look(int socket)
{
	struct found f = { .descriptors = count_descriptors(),
			   .has_session = getsid(0) == getpid() };
	struct sigaction term, bus;
	sigset_t blocked;

	(void)sigaction(SIGTERM, NULL, &term);
	(void)sigaction(SIGBUS, NULL, &bus);
	(void)sigprocmask(SIG_SETMASK, NULL, &blocked);
	f.is_ignored = term.sa_handler == SIG_IGN;
	f.is_handled = bus.sa_handler != SIG_DFL;
	f.is_blocked = sigismember(&blocked, SIGUSR1);
	(void)prctl(PR_GET_NAME, f.name, 0, 0, 0);
	(void)!getcwd(f.directory, sizeof(f.directory));
	(void)send(socket, &f, sizeof(f), 0);
}

static void a_child_inherits_nothing(void)
{
	int socket, null = open("/dev/null", O_RDONLY); /* without O_CLOEXEC */
	struct found f = { 0 };
	sigset_t usr1;
	pid_t pid;

	(void)sigemptyset(&usr1);
	(void)sigaddset(&usr1, SIGUSR1);
	(void)sigprocmask(SIG_BLOCK, &usr1, NULL);
	(void)signal(SIGBUS, on_signal);
	pid = child_start("optest-child", &socket);
	if (pid == 0) {
		look(socket);
		_exit(0);
	}
	(void)sigprocmask(SIG_UNBLOCK, &usr1, NULL);
	(void)signal(SIGBUS, SIG_DFL);
	(void)close(null);
	CHECK(pid > 0);
	CHECK_EQ(recv(socket, &f, sizeof(f), 0), sizeof(f));
	CHECK_EQ(f.descriptors, SANITIZED ? 3 : 1);
	CHECK(f.has_session && f.is_ignored && !f.is_handled && !f.is_blocked);
	CHECK_STR(f.name, "optest-child");
	CHECK_STR(f.directory, "/");
	(void)close(socket);
	child_wait(pid);
	CHECK(waitpid(pid, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void it_notices_when_the_connection_ends(void)
{
	char byte;
	int socket;
	pid_t pid = child_start("optest-child", &socket);

	if (pid == 0)
		_exit(recv(socket, &byte, 1, 0) == 0 ? 7 : 1);
	CHECK(pid > 0);
	(void)close(socket);
	{
		int status = 0;

		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	}
}

TESTS(T(a_child_inherits_nothing), T(it_notices_when_the_connection_ends))
