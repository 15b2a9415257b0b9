/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/client.h"

#include "base/clock.h"
#include "base/mem.h"
#include "control/server.h"
#include "control/socket.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

/* Waits until @fd is ready or @deadline_ms (CLOCK_MONOTONIC) has passed. */
static int wait_for(int fd, short events, int64_t deadline_ms)
{
	struct pollfd p = { .fd = fd, .events = events };
	int64_t left;
	int r;

	do {
		left = MAX(deadline_ms - clock_now_ms(), (int64_t)0);
		r = poll(&p, 1, (int)left);
	} while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : r == 0 ? -ETIMEDOUT : 0;
}

static int send_all(int fd, const char *text, int64_t deadline_ms)
{
	size_t left = strlen(text);
	ssize_t n;
	int r;

	while (left) {
		r = wait_for(fd, POLLOUT, deadline_ms);
		if (r < 0)
			return r;
		n = send(fd, text, left, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0)
			return -errno;
		text += n;
		left -= (size_t)n;
	}
	return 0;
}

/* Checks whether the last line of @answer is the end marker or an error, and removes it; an error's
 * text goes to @err. Returns 1 at the end, 0 if more is to come, -EREMOTEIO for an error. */
static int find_end(struct strbuf *answer, size_t from, struct error *err)
{
	char *line, *end;

	for (line = answer->text + from; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (!strncmp(line, CONTROL_ERROR, strlen(CONTROL_ERROR)))
			return error_set(err, -EREMOTEIO, "%s", line + strlen(CONTROL_ERROR));
		if (!strcmp(line, CONTROL_END)) {
			answer->length = (size_t)(line - answer->text);
			*line = '\0';
			return 1;
		}
		*end = '\n';
	}
	return 0;
}

static int receive(int fd, struct strbuf *answer, int64_t deadline_ms, struct error *err)
{
	size_t start = answer->length;
	char block[4096];
	ssize_t n;
	int r;

	for (;;) {
		r = wait_for(fd, POLLIN, deadline_ms);
		if (r < 0)
			return error_errno(err, r, "the daemon does not answer");
		n = recv(fd, block, sizeof(block), 0);
		if (n < 0)
			return error_errno(err, -errno, "the daemon closed the connection");
		if (n == 0)
			return error_set(err, -ECONNRESET,
					 "the daemon closed the connection without an answer");
		if (memchr(block, '\0', (size_t)n) ||
		    answer->length - start + (size_t)n > CONTROL_ANSWER_MAX)
			return error_set(err, -EBADMSG, "the daemon's answer is malformed");
		strbuf_add(answer, block, (size_t)n);
		r = find_end(answer, start, err);
		if (r != 0)
			return MIN(r, 0);
	}
}

int control_call(const char *session_dir, const char *request, struct strbuf *answer,
		 struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + CONTROL_TIMEOUT_MS;
	_cleanup_free_ char *line = xasprintf("%s\n", request);
	_cleanup_close_ int fd = control_connect(session_dir, CONTROL_TIMEOUT_MS, err);
	int r;

	if (strchr(request, '\n'))
		return error_set(err, -EINVAL, "a request to the daemon cannot have several lines");
	if (fd < 0)
		return fd;
	r = send_all(fd, line, deadline_ms);
	/* A daemon that refuses the connection sends the reason before hanging up. */
	if (r < 0 && r != -EPIPE && r != -ECONNRESET)
		return error_errno(err, r, "cannot ask the daemon");
	return receive(fd, answer, deadline_ms, err);
}

char *control_value(const char *answer, const char *key)
{
	size_t length = strlen(key);
	const char *line, *end;

	for (line = answer; *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		if (!strncmp(line, key, length) && line[length] == ' ')
			return xstrndup(line + length + 1, (size_t)(end - line) - length - 1);
	}
	return NULL;
}
