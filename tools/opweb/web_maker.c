/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opweb/web_maker.h"

#include "base/mem.h"
#include "tools/opweb/web_request.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ANSWER_MAX = 256 << 20, SECONDS_MAX = 120 };

/* --- the parent --- */

/* Prints the answer into the file, with limits. */
static _Noreturn void run_child(const struct web_maker *how, const char *question, int file)
{
	const struct rlimit cpu = { SECONDS_MAX, SECONDS_MAX }, size = { ANSWER_MAX, ANSWER_MAX };

	(void)dup2(file, STDOUT_FILENO);
	(void)close_range(STDERR_FILENO + 1, ~0U, 0);
	(void)setrlimit(RLIMIT_CPU, &cpu);
	(void)setrlimit(RLIMIT_FSIZE, &size);
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGTERM, SIG_DFL);
	(void)signal(SIGHUP, SIG_DFL);
	_exit(how->print(how->data, question));
}

/* Waits for the child, for a limited time. Returns its status as waitpid(2) does. */
static int wait_for(pid_t child)
{
	_cleanup_close_ int handle = (int)syscall(SYS_pidfd_open, child, 0);
	struct pollfd end = { .fd = handle, .events = POLLIN };
	int status = 0;

	if (handle >= 0 && poll(&end, 1, SECONDS_MAX * 1000) <= 0)
		(void)kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* Makes the answer in @file. 0, or -EIO with a message in it. */
static int make(const struct web_maker *how, const char *question, int file)
{
	static const char failed[] = "The process that reads the profile failed.\n";
	pid_t child = fork();
	int status = 1;

	if (child == 0)
		run_child(how, question, file);
	if (child > 0)
		status = wait_for(child);
	if (status && lseek(file, 0, SEEK_END) <= 0)
		(void)!write(file, failed, sizeof(failed) - 1);
	return status ? -EIO : 0;
}

/* Sends a number and, unless it is -1, a file. */
static void send_answer(int socket, int result, int file)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec part = { &result, sizeof(result) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *header = (struct cmsghdr *)control;

	if (file >= 0) {
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &file, sizeof(file));
	}
	(void)!sendmsg(socket, &message, MSG_NOSIGNAL);
}

void web_maker_serve(int socket, const volatile sig_atomic_t *is_over, const struct web_maker *how)
{
	char question[WEB_QUESTION_MAX];
	ssize_t n = 1;

	while (n > 0 && !*is_over) {
		_cleanup_close_ int file = -1;

		n = recv(socket, question, sizeof(question) - 1, 0);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0) {
			question[n] = '\0';
			file = memfd_create("answer", MFD_CLOEXEC);
			send_answer(socket, file < 0 ? -errno : make(how, question, file), file);
		}
	}
}

/* --- the server --- */

int web_maker_ask(int socket, const char *question, int *ret)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	int result = -EIO;
	struct iovec part = { &result, sizeof(result) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	const struct cmsghdr *header;
	ssize_t n;

	if (send(socket, question, strlen(question), MSG_NOSIGNAL) < 0)
		return -errno;
	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	header = CMSG_FIRSTHDR(&message);
	if (n != sizeof(result) || !header || header->cmsg_type != SCM_RIGHTS)
		return n < 0 ? -errno : result < 0 ? result : -EPIPE;
	memcpy(ret, CMSG_DATA(header), sizeof(*ret));
	return result;
}
