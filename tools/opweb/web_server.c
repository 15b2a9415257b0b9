/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opweb/web_server.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "profile/page/page.h"
#include "tools/opweb/web_answers.h"
#include "tools/opweb/web_confine.h"
#include "tools/opweb/web_export.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CONNECTIONS_MAX = 64,
	CONNECTION_MEMORY = 32 * 1024,
	CONNECTION_TIMEOUT_S = 30,
	WAIT_MS = 500,
	KEPT_BYTES = 256 << 20,
	DATA_FRESH_MS = 2000, /* a browser that reloads in a hurry gets the same data */
	DATA_EARLY_MS = 20000 /* those made before the first request */
};

/* A request. */
struct visit {
	struct visit *next;
	struct MHD_Connection *connection;
	struct web_made *made; /* the answer that it waits for, or NULL */
	bool is_waiting;
};

struct web_server {
	const struct web_server_config *config;
	struct web_answers *answers;
	struct visit *visits;
	uint64_t data_tag; /* of the data that were sent last */
	bool was_asked;	   /* for data */
	bool is_due;	   /* to ask for the data, before a browser does */
	int64_t asked_ms;  /* the last request */
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
	{ "Cache-Control", "private, no-cache" },
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

/* Sends an answer with a tag, or only says that the browser has it. */
static enum MHD_Result send_tagged(struct MHD_Connection *connection, uint64_t tag,
				   struct MHD_Response *response, const char *type)
{
	const char *known =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "If-None-Match");
	unsigned int status = MHD_HTTP_OK;
	char text[24];

	(void)snprintf(text, sizeof(text), "\"%016" PRIx64 "\"", tag);
	if (known && response && !strcmp(known, text)) {
		MHD_destroy_response(response);
		response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
		status = MHD_HTTP_NOT_MODIFIED;
	}
	if (response)
		(void)MHD_add_response_header(response, "ETag", text);
	return send_answer(connection, status, response, type);
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
	if (response) {
		(void)MHD_add_response_header(response, "Content-Encoding", "gzip");
		/* Asked for while the page is read, which takes as long as to make them. */
		(void)MHD_add_response_header(response, "Link",
					      "<applications>; rel=preload; as=fetch; crossorigin");
	}
	return send_tagged(connection, hash_bytes(page, size), response,
			   "text/html; charset=utf-8");
}

/* Sends a copy of a file that was made, or the message in it. */
static enum MHD_Result send_made(struct MHD_Connection *connection, const struct web_made *made,
				 const char *type)
{
	int copy = made->file < 0 ? -1 : fcntl(made->file, F_DUPFD_CLOEXEC, 0);
	struct MHD_Response *response;

	if (copy < 0)
		return send_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
				 strerror(-made->status));
	response = MHD_create_response_from_fd64((uint64_t)made->size, copy);
	if (made->status < 0)
		return send_answer(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, response,
				   "text/plain; charset=utf-8");
	return send_tagged(connection, made->tag, response, type);
}

/* Finds or asks for the answer to a question. Sources and files are those of the data that the page
 * has. */
static struct web_made *find_answer(struct web_server *s, const char *question,
				    enum web_answer kind)
{
	bool is_early = (kind == WEB_DATA || kind == WEB_APPLICATIONS) && !s->was_asked;
	bool is_of_data = kind == WEB_SOURCE || kind == WEB_FILES;
	int64_t fresh_ms = is_of_data ? -1 : is_early ? DATA_EARLY_MS : DATA_FRESH_MS;

	s->was_asked |= kind == WEB_DATA;
	return web_answers_ask(s->answers, question, fresh_ms);
}

/* Answers, as soon as the answer is there. Until then the connection rests. */
static enum MHD_Result send_or_wait(struct web_server *s, struct visit *v, const char *question,
				    enum web_answer kind)
{
	struct web_made *made = v->made ?: find_answer(s, question, kind);
	const char *about = web_event_rest(question);
	bool is_data = kind == WEB_DATA && web_second_rest(about) == about;

	if (!made)
		return send_text(v->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
				 "There are too many requests.\n");
	if (!v->made)
		made->users++;
	v->made = made;
	if (!made->is_ready) {
		v->is_waiting = true;
		MHD_suspend_connection(v->connection);
		return MHD_YES;
	}
	if (is_data && made->tag != s->data_tag) {
		web_answers_forget(s->answers, "source/");
		web_answers_forget(s->answers, WEB_FILES_QUESTION);
		web_answers_forget(s->answers, WEB_EVENT_PREFIX);
	}
	if (is_data)
		s->data_tag = made->tag;
	return send_made(v->connection, made,
			 kind == WEB_EXPORT ? web_export_type(web_event_rest(question))
			 : kind == WEB_SOURCE || kind == WEB_FILES ? "application/json"
								   : "application/octet-stream");
}

static struct visit *new_visit(struct web_server *s, struct MHD_Connection *connection)
{
	struct visit *v = xcalloc(1, sizeof(*v));

	*v = (struct visit){ .next = s->visits, .connection = connection };
	s->visits = v;
	return v;
}

/* Called when a request is over, however it ended. */
static void end_visit(void *data, struct MHD_Connection *connection _unused_, void **state,
		      enum MHD_RequestTerminationCode why _unused_)
{
	struct web_server *s = data;
	struct visit *v = *state, **at = &s->visits;

	if (!v)
		return;
	while (*at != v)
		at = &(*at)->next;
	*at = v->next;
	if (v->made)
		v->made->users--;
	free(v);
	*state = NULL;
}

static enum MHD_Result answer(void *data, struct MHD_Connection *connection, const char *path,
			      const char *method, const char *version _unused_,
			      const char *upload _unused_, size_t *upload_size, void **state)
{
	struct web_server *s = data;
	const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
	struct visit *v = *state;
	enum web_answer kind;

	s->asked_ms = clock_now_ms();
	if (*upload_size)
		return MHD_NO;
	if (!v) { /* the headers; an answer is due with the next call */
		*state = new_visit(s, connection);
		return MHD_YES;
	}
	kind = web_request_judge(s->config->policy, method, path, host);
	switch (kind) {
	case WEB_PAGE:
		return send_page(connection);
	case WEB_DATA:
	case WEB_APPLICATIONS:
	case WEB_SOURCE:
	case WEB_FILES:
	case WEB_EXPORT:
		return send_or_wait(s, v, web_request_question(path), kind);
	case WEB_NOT_FOUND:
		return send_text(connection, MHD_HTTP_NOT_FOUND, "Not found.\n");
	case WEB_BAD_METHOD:
		return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				 "Only GET and HEAD are supported.\n");
	case WEB_BAD_HOST:
		return send_text(connection, MHD_HTTP_MISDIRECTED_REQUEST,
				 "This server has another name.\n");
	}
	return MHD_NO;
}

/* Lets the requests go on that wait for an answer; all that wait for any if it is NULL. */
static void wake(struct web_server *s, const struct web_made *made)
{
	struct visit *v;

	for (v = s->visits; v; v = v->next)
		if (v->made && v->is_waiting && (v->made == made || !made)) {
			v->is_waiting = false;
			MHD_resume_connection(v->connection);
		}
}

/* Whether @limit_ms, unless it is 0, have passed since @since_ms. */
static bool is_late(int64_t limit_ms, int64_t since_ms)
{
	return limit_ms && clock_now_ms() - since_ms >= limit_ms;
}

static struct MHD_Daemon *start(struct web_server *s)
{
	return MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, answer, s,
				MHD_OPTION_LISTEN_SOCKET, s->config->socket,
				MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CONNECTIONS_MAX,
				MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
				MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)CONNECTION_TIMEOUT_S,
				MHD_OPTION_NOTIFY_COMPLETED, end_visit, s, MHD_OPTION_END);
}

/* Waits for requests and answers, and serves them. False if that is not possible any more. */
static bool serve_some(struct web_server *s, struct MHD_Daemon *daemon)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd polled[] = { { .fd = info ? info->epoll_fd : -1, .events = POLLIN },
				   { .fd = s->config->maker, .events = POLLIN } };
	MHD_UNSIGNED_LONG_LONG wait_ms = WAIT_MS;
	struct web_made *made;

	if (MHD_get_timeout(daemon, &wait_ms) != MHD_YES || wait_ms > WAIT_MS)
		wait_ms = WAIT_MS;
	if (poll(polled, ARRAY_SIZE(polled), (int)wait_ms) > 0 && polled[1].revents) {
		made = web_answers_take(s->answers);
		if (!made)
			return false;
		wake(s, made);
		if (s->is_due && !strcmp(made->question, WEB_APPLICATIONS_QUESTION)) {
			s->is_due = false;
			(void)web_answers_ask(s->answers, WEB_DATA_QUESTION, -1);
		}
	}
	return MHD_run(daemon) == MHD_YES;
}

int web_server_run(const struct web_server_config *config, const volatile sig_atomic_t *is_over,
		   struct error *err)
{
	_cleanup_(web_answers_freep) struct web_answers *answers =
		web_answers_new(config->maker, KEPT_BYTES);
	struct web_server s = { .config = config, .answers = answers, .asked_ms = clock_now_ms() };
	int64_t begin_ms = clock_now_ms();
	struct MHD_Daemon *daemon = start(&s);
	int r = 0;

	if (!daemon)
		return error_set(err, -EIO, "the server cannot be started");
	r = web_confine_enter(err);
	/* A browser will ask for applications soon, and shows them before it asks for the data. To
	 * make both at the same time would take longer for what is shown first. */
	if (r == 0 && config->is_early)
		s.is_due = web_answers_ask(answers, WEB_APPLICATIONS_QUESTION, -1) != NULL;
	while (r == 0 && !*is_over && !is_late(config->lasts_ms, begin_ms) &&
	       (s.visits || !is_late(config->idle_ms, s.asked_ms)))
		if (!serve_some(&s, daemon))
			break;
	wake(&s, NULL); /* else they could not be closed */
	MHD_stop_daemon(daemon);
	return r;
}
