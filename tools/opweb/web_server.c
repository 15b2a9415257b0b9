/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opweb/web_server.h"

#include "base/clock.h"
#include "base/mem.h"
#include "profile/page/page.h"
#include "tools/opweb/web_confine.h"
#include "tools/opweb/web_maker.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	CONNECTIONS_MAX = 64,
	CONNECTION_MEMORY = 32 * 1024,
	CONNECTION_TIMEOUT_S = 30,
	WAIT_MS = 500,
	DATA_FRESH_MS = 2000 /* a browser that reloads in a hurry gets the same data */
};

struct web_server {
	const struct web_server_config *config;
	int data; /* the data made last, a file; -1: none yet */
	int status;
	int64_t made_ms;
	int64_t asked_ms; /* the last request */
};

/* Headers of all answers. */
static const struct {
	const char *name, *value;
} headers[] = {
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "DENY" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cache-Control", "no-store" },
};

static enum MHD_Result send_answer(struct MHD_Connection *connection, unsigned int status,
				   struct MHD_Response *response, const char *type)
{
	enum MHD_Result result;
	size_t i;

	if (!response)
		return MHD_NO;
	(void)MHD_add_response_header(response, "Content-Security-Policy", page_policy());
	for (i = 0; i < ARRAY_SIZE(headers); i++)
		(void)MHD_add_response_header(response, headers[i].name, headers[i].value);
	(void)MHD_add_response_header(response, "Content-Type", type);
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned int status,
				 const char *text)
{
	return send_answer(connection, status,
			   MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
							   MHD_RESPMEM_MUST_COPY),
			   "text/plain; charset=utf-8");
}

/* Sends the page, which is compressed in the program, as every browser takes it. */
static enum MHD_Result send_page(struct MHD_Connection *connection)
{
	const char *accepted =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept-Encoding");
	struct MHD_Response *response;
	const void *page;
	size_t size = page_packed(&page);

	if (!accepted || !strstr(accepted, "gzip"))
		return send_text(connection, MHD_HTTP_NOT_ACCEPTABLE,
				 "The page is compressed: Accept-Encoding must have gzip.\n");
	response = MHD_create_response_from_buffer(size, (void *)(uintptr_t)page,
						   MHD_RESPMEM_PERSISTENT);
	if (response)
		(void)MHD_add_response_header(response, "Content-Encoding", "gzip");
	return send_answer(connection, MHD_HTTP_OK, response, "text/html; charset=utf-8");
}

/* Sends a copy of a file that was made, or the message in it. */
static enum MHD_Result send_made(struct MHD_Connection *connection, int status, int file,
				 const char *type)
{
	struct stat st = { 0 };
	int copy = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, 0);

	if (copy < 0 || fstat(copy, &st) < 0)
		return send_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, strerror(-status));
	return send_answer(connection, status < 0 ? MHD_HTTP_INTERNAL_SERVER_ERROR : MHD_HTTP_OK,
			   MHD_create_response_from_fd64((uint64_t)st.st_size, copy),
			   status < 0 ? "text/plain; charset=utf-8" : type);
}

static enum MHD_Result send_data(struct web_server *s, struct MHD_Connection *connection,
				 const char *question)
{
	if (s->data < 0 || clock_now_ms() - s->made_ms > DATA_FRESH_MS) {
		if (s->data >= 0)
			(void)close(s->data);
		s->data = -1;
		s->status = web_maker_ask(s->config->maker, question, &s->data);
		s->made_ms = clock_now_ms();
	}
	return send_made(connection, s->status, s->data, "application/octet-stream");
}

static enum MHD_Result send_source(struct web_server *s, struct MHD_Connection *connection,
				   const char *question)
{
	_cleanup_close_ int file = -1;
	int status = web_maker_ask(s->config->maker, question, &file);

	return send_made(connection, status, file, "application/json");
}

static enum MHD_Result answer(void *data, struct MHD_Connection *connection, const char *path,
			      const char *method, const char *version _unused_,
			      const char *upload _unused_, size_t *upload_size, void **state)
{
	struct web_server *s = data;
	const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");

	s->asked_ms = clock_now_ms();
	if (*upload_size)
		return MHD_NO;
	if (!*state) { /* the headers; an answer is due with the next call */
		*state = s;
		return MHD_YES;
	}
	switch (web_request_judge(s->config->policy, method, path, host)) {
	case WEB_PAGE:
		return send_page(connection);
	case WEB_DATA:
		return send_data(s, connection, web_request_question(path));
	case WEB_SOURCE:
		return send_source(s, connection, web_request_question(path));
	case WEB_NOT_FOUND:
		return send_text(connection, MHD_HTTP_NOT_FOUND, "There is nothing here.\n");
	case WEB_BAD_METHOD:
		return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD.\n");
	case WEB_BAD_HOST:
		return send_text(connection, MHD_HTTP_MISDIRECTED_REQUEST,
				 "This server has another name.\n");
	}
	return MHD_NO;
}

/* Whether @limit_ms, unless it is 0, have passed since @since_ms. */
static bool is_late(int64_t limit_ms, int64_t since_ms)
{
	return limit_ms && clock_now_ms() - since_ms >= limit_ms;
}

int web_server_run(const struct web_server_config *config, const volatile sig_atomic_t *is_over,
		   struct error *err)
{
	struct web_server s = { .config = config, .data = -1, .asked_ms = clock_now_ms() };
	int64_t begin_ms = clock_now_ms();
	struct MHD_Daemon *daemon =
		MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, answer, &s, MHD_OPTION_LISTEN_SOCKET,
				 config->socket, MHD_OPTION_CONNECTION_LIMIT,
				 (unsigned int)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				 (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT,
				 (unsigned int)CONNECTION_TIMEOUT_S, MHD_OPTION_END);

	int r = 0;

	if (!daemon)
		return error_set(err, -EIO, "the server cannot be started");
	r = web_confine_enter(err);
	while (r == 0 && !*is_over && !is_late(config->lasts_ms, begin_ms) &&
	       !is_late(config->idle_ms, s.asked_ms))
		if (MHD_run_wait(daemon, WAIT_MS) != MHD_YES)
			break;
	MHD_stop_daemon(daemon);
	if (s.data >= 0)
		(void)close(s.data);
	return r;
}
