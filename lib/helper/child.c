/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/child.h"

#include "base/macro.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child: drops what was inherited, except for @socket, which becomes descriptor 0. */
static void begin(const char *name, int socket, pid_t parent)
{
	static const int ignored[] = { SIGINT,	SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
				       SIGUSR2, SIGALRM, SIGPIPE, SIGTSTP };
	static const int usual[] = { SIGCHLD, SIGBUS, SIGSYS };
	sigset_t none;
	size_t i;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(1);
	for (i = 0; i < ARRAY_SIZE(ignored); i++)
		(void)signal(ignored[i], SIG_IGN);
	for (i = 0; i < ARRAY_SIZE(usual); i++)
		(void)signal(usual[i], SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)prctl(PR_SET_NAME, name, 0, 0, 0);
	(void)dup2(socket, 0);
	(void)close_range(SANITIZED ? 3 : 1, ~0U, 0);
	(void)!chdir("/");
}

pid_t child_start_inside(const char *name, int *ret_socket)
{
	pid_t parent = getpid(), pid;
	int ends[2], error;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	pid = fork();
	error = errno;
	if (pid == 0) {
		begin(name, ends[1], parent);
		*ret_socket = 0;
		return 0;
	}
	(void)close(ends[1]);
	if (pid < 0) {
		(void)close(ends[0]);
		return -error;
	}
	*ret_socket = ends[0];
	return pid;
}

pid_t child_start(const char *name, int *ret_socket)
{
	pid_t pid = child_start_inside(name, ret_socket);

	/* With CONFIG_SCHED_AUTOGROUP, a session has a niceness (helper/niceness.h). */
	if (pid == 0)
		(void)setsid();
	return pid;
}

void child_wait(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}
