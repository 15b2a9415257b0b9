/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opweb/web_maker.h"

#include "base/clock.h"
#include "base/mem.h"
#include "tools/opweb/web_request.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ANSWER_MAX = 256 << 20, SECONDS_MAX = 120, CHILDREN_MAX = 4 };

struct question {
	uint32_t number;
	char text[WEB_QUESTION_MAX];
};

struct answer {
	uint32_t number;
	int32_t status;
};

/* --- the parent --- */

/* A child that makes an answer. */
struct child {
	uint32_t number;
	pid_t pid;
	int handle, file;
	int64_t end_ms; /* when it has taken too long */
};

/* Prints the answer into the file, with limits. */
static _Noreturn void run_child(const struct web_maker *how, const char *question, int file)
{
	const struct rlimit cpu = { SECONDS_MAX, SECONDS_MAX }, size = { ANSWER_MAX, ANSWER_MAX };

	/* Else what is freed of the first large arrays would be kept for small ones. */
	(void)mallopt(M_MMAP_THRESHOLD, 1 << 20);
	(void)dup2(file, STDOUT_FILENO);
	(void)close_range(STDERR_FILENO + 1, ~0U, 0);
	(void)setrlimit(RLIMIT_CPU, &cpu);
	(void)setrlimit(RLIMIT_FSIZE, &size);
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGTERM, SIG_DFL);
	(void)signal(SIGHUP, SIG_DFL);
	_exit(how->print(how->data, question));
}

/* Sends a status and, unless it is -1, a file. */
static void send_answer(int socket, const struct answer *answer, int file)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec part = { (void *)(uintptr_t)answer, sizeof(*answer) };
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

static void child_done(struct child *c)
{
	(void)close(c->handle);
	(void)close(c->file);
}

/* Starts a child for the question. 0 or -errno. */
static int start(const struct web_maker *how, const struct question *q, struct child *ret)
{
	*ret = (struct child){ .number = q->number,
			       .file = memfd_create("answer", MFD_CLOEXEC),
			       .end_ms = clock_now_ms() + SECONDS_MAX * 1000 };
	if (ret->file < 0)
		return -errno;
	ret->pid = fork();
	if (ret->pid == 0)
		run_child(how, q->text, ret->file);
	ret->handle = ret->pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, ret->pid, 0);
	if (ret->pid > 0)
		return 0;
	child_done(ret);
	return -EAGAIN;
}

/* Waits for a child that has ended, or is ended now, and sends its answer. */
static void finish(int socket, struct child *c)
{
	static const char failed[] = "The process that reads the profile failed.\n";
	int status = 0;

	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status && lseek(c->file, 0, SEEK_END) <= 0)
		(void)!write(c->file, failed, sizeof(failed) - 1);
	send_answer(socket, &(struct answer){ c->number, status ? -EIO : 0 }, c->file);
	child_done(c);
}

/* Takes a question. False if there will be no more. */
static bool take_question(int socket, const struct web_maker *how, struct child *children,
			  size_t *count)
{
	struct question q;
	ssize_t n = recv(socket, &q, sizeof(q) - 1, 0);
	int r;

	if (n < (ssize_t)offsetof(struct question, text))
		return n < 0 && errno == EINTR;
	((char *)&q)[n] = '\0';
	r = start(how, &q, &children[*count]);
	if (r < 0)
		send_answer(socket, &(struct answer){ q.number, r }, -1);
	else
		(*count)++;
	return true;
}

/* Ends children that took too long, and takes those that have ended off the list. */
static void reap(int socket, const struct pollfd *polled, struct child *children, size_t *count)
{
	size_t i, kept = 0;

	for (i = 0; i < *count; i++) {
		bool is_late = clock_now_ms() >= children[i].end_ms;

		if (is_late)
			(void)kill(children[i].pid, SIGKILL);
		if (is_late || polled[i].revents || children[i].handle < 0)
			finish(socket, &children[i]);
		else
			children[kept++] = children[i];
	}
	*count = kept;
}

void web_maker_serve(int socket, const volatile sig_atomic_t *is_over, const struct web_maker *how)
{
	struct child children[CHILDREN_MAX];
	struct pollfd polled[CHILDREN_MAX + 1];
	size_t count = 0, i;
	bool goes_on = true;

	while (goes_on && !*is_over) {
		for (i = 0; i < count; i++)
			polled[i] = (struct pollfd){ .fd = children[i].handle, .events = POLLIN };
		polled[count] = (struct pollfd){ .fd = count < CHILDREN_MAX ? socket : -1,
						 .events = POLLIN };
		if (poll(polled, count + 1, count ? 1000 : -1) < 0)
			continue; /* a signal */
		i = count;
		reap(socket, polled, children, &count);
		if (polled[i].revents)
			goes_on = take_question(socket, how, children, &count);
	}
	for (i = 0; i < count; i++) {
		(void)kill(children[i].pid, SIGKILL);
		finish(socket, &children[i]);
	}
}

/* --- the server --- */

int web_maker_ask(int socket, uint32_t number, const char *question)
{
	struct question q = { .number = number };
	size_t length = strlen(question);

	if (length >= sizeof(q.text))
		return -ENAMETOOLONG;
	memcpy(q.text, question, length);
	return send(socket, &q, offsetof(struct question, text) + length,
		    MSG_NOSIGNAL | MSG_DONTWAIT) < 0
		       ? -errno
		       : 0;
}

int web_maker_take(int socket, uint32_t *ret_number, int *ret_status, int *ret_file)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct answer answer;
	struct iovec part = { &answer, sizeof(answer) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	const struct cmsghdr *header;
	ssize_t n;

	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(answer))
		return n < 0 ? -errno : -EPIPE;
	header = CMSG_FIRSTHDR(&message);
	*ret_number = answer.number;
	*ret_status = answer.status;
	*ret_file = -1;
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(ret_file, CMSG_DATA(header), sizeof(*ret_file));
	return 0;
}
