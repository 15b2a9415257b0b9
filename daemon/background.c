/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "background.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

/* Waits for the outcome, in the parent. The daemon itself reports what went wrong. */
static _noreturn_ void await_ready(int fd)
{
	ssize_t n;
	char byte;

	do
		n = read(fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	_exit(n == 1 ? 0 : 1);
}

int background_enter(int *ret_ready, struct error *err)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, -errno, "cannot create a pipe");
	pid = fork();
	if (pid < 0)
		return error_errno(err, -errno, "cannot fork");
	if (pid > 0) {
		(void)close(ends[1]);
		(void)waitpid(pid, NULL, 0);
		await_ready(ends[0]);
	}
	(void)close(ends[0]);
	(void)setsid();
	/* A session leader can acquire a terminal by opening one; its child cannot. */
	pid = fork();
	if (pid < 0)
		return error_errno(err, -errno, "cannot fork");
	if (pid > 0)
		_exit(0);
	*ret_ready = ends[1];
	return 0;
}

void background_ready(int *ready)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		(void)dup2(null, STDIN_FILENO);
		(void)dup2(null, STDOUT_FILENO);
		(void)close(null);
	}
	/* The parent may have been killed. */
	(void)!write(*ready, "", 1);
	(void)close(*ready);
	*ready = -1;
}
