/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "oprofilefs/asker.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "control/client.h"
#include "control/server.h"
#include "control/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { CONNECT_MS = 1000, ERRNO_MAX = 133 };

/* Who waits for an answer. */
struct waiter {
	asker_take *take;
	void *data;
};

struct asker {
	char *session_dir;
	int fd; /* -1: no connection */
	struct waiter *waiters;
	size_t count, room;
	struct strbuf out, in; /* not yet sent; received, the answer not yet whole */
};

struct asker *asker_new(const char *session_dir)
{
	struct asker *a = xcalloc(1, sizeof(*a));

	a->session_dir = xstrdup(session_dir);
	a->fd = -1;
	return a;
}

/* Ends the connection and calls back all waiting requests. */
static void hang_up(struct asker *a, int r)
{
	struct waiter *waiters = STEAL(a->waiters);
	size_t i, count = a->count;

	cleanup_closep(&a->fd);
	a->fd = -1;
	a->count = a->room = 0;
	strbuf_clear(&a->out);
	strbuf_clear(&a->in);
	for (i = 0; i < count; i++)
		waiters[i].take(r, NULL, waiters[i].data);
	free(waiters);
}

void asker_free(struct asker *a)
{
	if (!a)
		return;
	hang_up(a, -ECONNRESET);
	strbuf_done(&a->out);
	strbuf_done(&a->in);
	free(a->session_dir);
	free(a);
}

/* The errno named before the first colon; -EREMOTEIO if there is none. */
static int number_of_error(const char *text)
{
	size_t length = strcspn(text, ":");
	int number;

	for (number = 1; number <= ERRNO_MAX; number++) {
		const char *name = strerrorname_np(number);

		if (name && strlen(name) == length && !strncmp(name, text, length))
			return -number;
	}
	return -EREMOTEIO;
}

static int connect_to(const char *session_dir)
{
	int fd = control_connect(session_dir, CONNECT_MS, NULL);

	if (fd < 0)
		return fd == -ENOENT ? -ECONNREFUSED : fd;
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

void asker_ask(struct asker *a, const char *request, asker_take *take, void *data)
{
	if (a->fd < 0) {
		a->fd = connect_to(a->session_dir);
		if (a->fd < 0) {
			int r = a->fd;

			a->fd = -1;
			take(r, NULL, data);
			return;
		}
	}
	array_grow(&a->waiters, a->count + 1, &a->room);
	a->waiters[a->count++] = (struct waiter){ take, data };
	strbuf_addf(&a->out, "%s\n", request);
}

int asker_fd(const struct asker *a)
{
	return a->fd;
}

short asker_events(const struct asker *a)
{
	return (short)((a->count ? POLLIN : 0) | (a->out.length ? POLLOUT : 0));
}

/* Bytes of the whole answer at the start of @text, 0 if it is not whole; its last line begins at
 * *@ret_last. */
static size_t whole_answer(const char *text, const char **ret_last)
{
	const char *line, *end;

	for (line = text; (end = strchr(line, '\n')); line = end + 1) {
		*ret_last = line;
		if (!strncmp(line, CONTROL_END "\n", strlen(CONTROL_END) + 1) ||
		    !strncmp(line, CONTROL_ERROR, strlen(CONTROL_ERROR)))
			return (size_t)(end - text) + 1;
	}
	return 0;
}

/* Hands an answer of @size bytes to the first who waits. */
static void give(struct asker *a, size_t size, size_t last)
{
	struct waiter first = a->waiters[0];
	_cleanup_free_ char *answer = xstrndup(a->in.text, size - 1);
	const char *refusal = answer + last + strlen(CONTROL_ERROR);
	bool refused = !strncmp(answer + last, CONTROL_ERROR, strlen(CONTROL_ERROR));

	memmove(a->waiters, a->waiters + 1, --a->count * sizeof(*a->waiters));
	memmove(a->in.text, a->in.text + size, a->in.length - size + 1);
	a->in.length -= size;
	if (refused) {
		first.take(number_of_error(refusal), refusal, first.data);
		return;
	}
	answer[last] = '\0';
	first.take(0, answer, first.data);
}

static int send_out(struct asker *a)
{
	ssize_t n;

	if (!a->out.length)
		return 0;
	n = send(a->fd, a->out.text, a->out.length, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	memmove(a->out.text, a->out.text + n, a->out.length - (size_t)n + 1);
	a->out.length -= (size_t)n;
	return 0;
}

/* 1 where something came, 0 where nothing did, -errno. */
static int receive(struct asker *a)
{
	char block[4096];
	ssize_t n = recv(a->fd, block, sizeof(block), MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	if (n == 0 || a->in.length > CONTROL_ANSWER_MAX)
		return -ECONNRESET;
	strbuf_add(&a->in, block, (size_t)n);
	return 1;
}

void asker_run(struct asker *a)
{
	const char *last;
	size_t size;
	int r = a->fd < 0 ? 0 : send_out(a);

	/* A daemon that refuses says why before it hangs up. */
	while (a->fd >= 0 && (r = receive(a)) > 0)
		while (a->count && (size = whole_answer(a->in.text, &last)))
			give(a, size, (size_t)(last - a->in.text));
	if (r < 0)
		hang_up(a, -ECONNRESET);
	else if (!a->count && a->fd >= 0)
		hang_up(a, 0);
}

int asker_hand_over(struct asker *a, struct strbuf *rest)
{
	strbuf_add(rest, strbuf_text(&a->in), a->in.length);
	strbuf_clear(&a->in);
	return STEAL_FD(a->fd);
}
