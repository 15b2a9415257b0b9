/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/common/fetch_service.h"

#include "base/mem.h"
#include "elf/debuginfod.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { WANTS_MAX = 1024 };

/* A file that the child asks for; the last packet of a request has ->is_end. */
struct ask {
	struct build_id id;
	char name[256];
	bool executable, is_end;
};

/* What became of a file; the first packet of an answer is for the request, with the reason in
 * ->text. */
struct answer {
	int code;
	char text[PATH_MAX]; /* the path, or "" */
};

static int receive(int socket, struct answer *ret, struct error *err)
{
	ssize_t n;

	while ((n = read(socket, ret, sizeof(*ret))) < 0 && errno == EINTR)
		;
	if (n != sizeof(*ret))
		return error_set(err, -EPIPE, "debuginfod: the parent process does not answer");
	ret->text[sizeof(ret->text) - 1] = '\0';
	return 0;
}

int fetch_ask(struct debuginfod_want *wants, size_t count, int socket, struct error *err)
{
	struct answer answer = { 0 };
	struct ask ask = { .is_end = true };
	size_t i, n = MIN(count, (size_t)WANTS_MAX);
	int code, r;

	for (i = 0; i < n; i++) {
		struct ask one = { .id = *wants[i].id, .executable = wants[i].executable };

		(void)snprintf(one.name, sizeof(one.name), "%s", wants[i].name);
		if (write(socket, &one, sizeof(one)) != sizeof(one))
			return error_errno(err, -errno, "debuginfod");
	}
	if (write(socket, &ask, sizeof(ask)) != sizeof(ask))
		return error_errno(err, -errno, "debuginfod");
	r = receive(socket, &answer, err);
	if (r < 0)
		return r;
	code = answer.code < 0 ? error_set(err, answer.code, "%s", answer.text) : 0;
	for (i = 0; i < n && receive(socket, &answer, err) == 0; i++) {
		wants[i].error = answer.code;
		wants[i].path = *answer.text ? xstrdup(answer.text) : NULL;
	}
	for (; i < count; i++)
		wants[i].error = -EAGAIN;
	return code;
}

static void send_answer(int socket, int code, const char *text)
{
	struct answer answer = { .code = code };

	(void)snprintf(answer.text, sizeof(answer.text), "%s", text);
	(void)!write(socket, &answer, sizeof(answer)); /* a child that is gone needs none */
}

static void serve_request(int socket, struct ask *asks, size_t count,
			  const struct debuginfod_progress *progress)
{
	struct debuginfod_want wants[WANTS_MAX] = { 0 };
	struct error err = ERROR_INIT;
	size_t i;
	int r;

	for (i = 0; i < count; i++) {
		asks[i].id.size = MIN(asks[i].id.size, (uint8_t)BUILD_ID_MAX);
		asks[i].name[sizeof(asks[i].name) - 1] = '\0';
		wants[i] = (struct debuginfod_want){ .id = &asks[i].id,
						     .name = asks[i].name,
						     .executable = asks[i].executable };
	}
	r = debuginfod_fetch(wants, count, progress, &err);
	send_answer(socket, r, err.text);
	for (i = 0; i < count; i++) {
		send_answer(socket, wants[i].error, wants[i].path ?: "");
		free(wants[i].path);
	}
}

void fetch_serve(int socket, void *data)
{
	_cleanup_free_ struct ask *asks = xcalloc(WANTS_MAX + 1, sizeof(*asks));
	size_t count = 0;

	while (read(socket, &asks[count], sizeof(*asks)) == sizeof(*asks)) {
		if (!asks[count].is_end && count < WANTS_MAX) {
			count++;
			continue;
		}
		serve_request(socket, asks, count, data);
		count = 0;
	}
}
