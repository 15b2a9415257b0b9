/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/server.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "control/internal/peer.h"
#include "control/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

enum { EVENTS_A_RUN = 16, ANSWER_KEPT = 64 << 10 /* bytes of a free slot */ };

struct client {
	int fd; /* -1: free slot */
	struct ucred peer;
	int64_t deadline_ms;	     /* CLOCK_MONOTONIC; extended when an answer has been read */
	char line[CONTROL_LINE_MAX]; /* received, not yet run */
	size_t length;
	struct strbuf answer;
	size_t sent;  /* bytes of ->answer */
	bool closing; /* hang up once the answer is sent */
	bool adopted; /* hand the connection over once the answer is sent */
	bool parked;  /* not watched until a request that was passed on is answered */
};

struct control_server {
	struct control_server_config config; /* ->session_dir and ->group are not used later */
	int client_time_ms;
	gid_t group; /* members may connect; (gid_t)-1: none */
	int directory, listener, epoll, timer;
	int spare; /* to refuse a connection with when descriptors run out */
	struct client clients[CONTROL_CLIENTS_MAX];
};

/* The epoll user data: an index into clients[], or one of these. */
enum { EVENT_LISTENER = CONTROL_CLIENTS_MAX, EVENT_TIMER };

static int watch(struct control_server *server, int fd, uint32_t events, uint32_t what)
{
	struct epoll_event event = { .events = events, .data.u32 = what };

	return epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* Arms the timer for the next deadline; disarms it if there are no clients, so that an idle server
 * never wakes. */
static void set_timer(struct control_server *server)
{
	struct itimerspec when = { 0 };
	int64_t next = INT64_MAX;
	size_t i;

	for (i = 0; i < CONTROL_CLIENTS_MAX; i++)
		if (server->clients[i].fd >= 0)
			next = MIN(next, server->clients[i].deadline_ms);
	if (next != INT64_MAX)
		when.it_value = (struct timespec){ next / 1000, next % 1000 * 1000000 + 1 };
	(void)timerfd_settime(server->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

/* Writes a line to the log, or leaves that to somebody else. */
static _printf_(3, 4) void say(const struct control_server *server, enum log_level level,
			       const char *format, ...)
{
	char text[CONTROL_SAY_MAX];
	va_list ap;

	if (!log_wants(level))
		return;
	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (server->config.say)
		server->config.say(level, text, server->config.data);
	else
		log_line(level, "%s", text);
}

/* Empties the slot, which keeps some memory for the answers to the next client. */
static void vacate(struct client *client)
{
	client->fd = -1;
	strbuf_clear(&client->answer);
	if (client->answer.room > ANSWER_KEPT)
		strbuf_done(&client->answer);
}

static void drop(struct client *client)
{
	(void)close(client->fd);
	vacate(client);
}

static void end_overdue(struct control_server *server)
{
	int64_t now = clock_now_ms();
	uint64_t expirations;
	size_t i;

	(void)!read(server->timer, &expirations, sizeof(expirations));
	for (i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		struct client *client = &server->clients[i];

		if (client->fd < 0 || client->deadline_ms > now)
			continue;
		say(server, LOG_LEVEL_INFO, "control: pid %d read too slowly; disconnected",
		    client->peer.pid);
		drop(client);
	}
}

/* Sends as much of the answer as the socket takes. Returns 0 when all is sent, -EAGAIN if the rest
 * must wait, else -errno. */
static int send_answer(struct client *client)
{
	ssize_t n;

	while (client->sent < client->answer.length) {
		n = send(client->fd, client->answer.text + client->sent,
			 client->answer.length - client->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0)
			return -errno;
		client->sent += (size_t)n;
	}
	client->sent = 0;
	strbuf_clear(&client->answer);
	return 0;
}

static void list_commands(const struct control_command *commands, struct strbuf *answer)
{
	for (const struct control_command *c = commands; c->name; c++)
		control_answer(answer, c->name, "%s%s%s", c->arg ?: "", c->arg ? ": " : "",
			       c->help);
}

/* Answers in this thread if possible, else passes the request on. */
static int peek_or_pass(struct control_server *server, struct client *client,
			const struct control_command *c, const char *arg, struct error *err)
{
	int r = CONTROL_PASSED;

	if (c->peek)
		r = c->peek(arg, &client->answer, server->config.peek_data, err);
	if (r != CONTROL_PASSED)
		return r;
	client->parked = true;
	server->config.pass((uint32_t)(client - server->clients), c, arg, server->config.data);
	return r;
}

static int run_command(struct control_server *server, struct client *client, const char *name,
		       const char *arg, struct error *err)
{
	if (!strcmp(name, "help")) {
		list_commands(server->config.commands, &client->answer);
		return 0;
	}
	for (const struct control_command *c = server->config.commands; c->name; c++) {
		if (strcmp(name, c->name) != 0)
			continue;
		if (arg && !c->arg)
			return error_set(err, -EINVAL, "%s: takes no argument", name);
		if (!arg && c->arg && c->arg[0] != '[')
			return error_set(err, -EINVAL, "%s needs %s", name, c->arg);
		if (server->config.pass)
			return peek_or_pass(server, client, c, arg, err);
		return c->run(arg, &client->answer, server->config.data, err);
	}
	return error_set(err, -EINVAL, "unknown request; \"help\" lists the requests");
}

/* Completes the answer to a command that returned @r; @err is its error. */
static void end_answer(struct client *client, int r, struct error *err)
{
	if (r >= 0) {
		strbuf_adds(&client->answer, CONTROL_END "\n");
		client->adopted = r == CONTROL_ADOPT;
		return;
	}
	control_answer_clean(err->text);
	strbuf_clear(&client->answer);
	strbuf_addf(&client->answer, CONTROL_ERROR "%s\n", err->text);
}

/* Runs one request line, which it modifies, and puts the answer in the client's buffer, or parks
 * the client. */
static void answer_line(struct control_server *server, struct client *client, char *line,
			size_t length)
{
	struct error err = ERROR_INIT;
	char *arg = strchr(line, ' ');
	int r;

	if (!control_answer_is_text(line, length)) {
		strbuf_adds(&client->answer, CONTROL_ERROR "control characters in the request\n");
		return;
	}
	say(server, LOG_LEVEL_DEBUG, "control: \"%s\" from pid %d, user %u", line, client->peer.pid,
	    client->peer.uid);
	if (arg)
		*arg++ = '\0';
	r = run_command(server, client, line, arg && *arg ? arg : NULL, &err);
	if (r != CONTROL_PASSED)
		end_answer(client, r, &err);
}

/* Runs the lines that have arrived, stopping if an answer cannot be sent at once. Returns 0, or
 * -errno to hang up. */
static int run_lines(struct control_server *server, struct client *client)
{
	size_t length;
	char *end;
	int r;

	while ((end = memchr(client->line, '\n', client->length))) {
		*end = '\0';
		length = (size_t)(end - client->line) + 1;
		answer_line(server, client, client->line, length - 1);
		client->length -= length;
		memmove(client->line, client->line + length, client->length);
		if (server->config.served)
			server->config.served(server->config.data);
		if (client->parked)
			return 0;
		r = send_answer(client);
		if (r < 0 || client->adopted)
			return r;
		client->deadline_ms = clock_now_ms() + server->client_time_ms;
	}
	if (client->length < sizeof(client->line))
		return 0;
	strbuf_addf(&client->answer, CONTROL_ERROR "the request is longer than %d bytes\n",
		    CONTROL_LINE_MAX - 1);
	client->closing = true;
	return send_answer(client);
}

/* Reads available input. Returns 0, -EAGAIN, or another -errno to hang up. */
static int receive(struct control_server *server, struct client *client)
{
	ssize_t n = recv(client->fd, client->line + client->length,
			 sizeof(client->line) - client->length, MSG_DONTWAIT);

	if (n < 0)
		return -errno;
	if (n == 0)
		return -EPIPE;
	client->length += (size_t)n;
	return run_lines(server, client);
}

/* Passes the connection to ->adopt and frees the slot. */
static void hand_over(struct control_server *server, struct client *client)
{
	int fd = STEAL_FD(client->fd);

	(void)epoll_ctl(server->epoll, EPOLL_CTL_DEL, fd, NULL);
	vacate(client);
	server->config.adopt(fd, server->config.data);
}

/* Decides what happens to the connection after @r: 0, -EAGAIN if the rest of the answer must wait,
 * or another -errno to hang up. A parked client is not watched: a hangup would wake us for ever. */
static void settle(struct control_server *server, struct client *client, int r)
{
	struct epoll_event event = { .data.u32 = (uint32_t)(client - server->clients) };

	if (client->parked) {
		client->deadline_ms = INT64_MAX;
		(void)epoll_ctl(server->epoll, EPOLL_CTL_DEL, client->fd, NULL);
		return;
	}
	if ((r < 0 && r != -EAGAIN) || (r == 0 && client->closing)) {
		drop(client);
		return;
	}
	if (r == 0 && client->adopted) {
		hand_over(server, client);
		return;
	}
	event.events = client->answer.length ? EPOLLOUT : EPOLLIN;
	if (epoll_ctl(server->epoll, EPOLL_CTL_MOD, client->fd, &event) < 0)
		drop(client);
}

/* Sends what there is of an answer, then runs the next requests. Returns as run_lines(). */
static int go_on(struct control_server *server, struct client *client)
{
	int r = send_answer(client);

	if (r < 0 || client->closing || client->adopted)
		return r;
	client->deadline_ms = clock_now_ms() + server->client_time_ms;
	return run_lines(server, client);
}

/* Serves a client that is ready: sends the rest of an answer before running more requests. */
static void serve(struct control_server *server, uint32_t index)
{
	struct client *client = &server->clients[index];

	if (client->fd < 0 || client->parked)
		return;
	settle(server, client,
	       client->answer.length ? go_on(server, client) : receive(server, client));
}

void control_server_answer(struct control_server *server, uint32_t ticket, int r,
			   const struct strbuf *answer, struct error *err)
{
	struct client *client = &server->clients[ticket];

	client->parked = false;
	client->deadline_ms = clock_now_ms() + server->client_time_ms;
	strbuf_add(&client->answer, strbuf_text(answer), answer->length);
	end_answer(client, r, err);
	if (watch(server, client->fd, 0, ticket) < 0)
		drop(client);
	else
		settle(server, client, go_on(server, client));
	set_timer(server);
}

/* A free slot for a new client, or NULL with the reason in *@ret_why. */
static struct client *find_slot(struct control_server *server, int fd, const struct ucred *peer,
				const char **ret_why)
{
	struct client *slot = NULL;
	unsigned int same_user = 0;
	size_t i;

	*ret_why = "you may not control this daemon";
	if (peer->uid != 0 && peer->uid != geteuid() && !peer_in_group(fd, peer, server->group))
		return NULL;
	for (i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		if (server->clients[i].fd < 0)
			slot = &server->clients[i];
		else
			same_user += server->clients[i].peer.uid == peer->uid;
	}
	*ret_why = "too many connections";
	return same_user < CONTROL_CLIENTS_PER_USER ? slot : NULL;
}

static void add_client(struct control_server *server, int fd)
{
	struct ucred peer = { .uid = (uid_t)-1, .gid = (gid_t)-1 };
	socklen_t size = sizeof(peer);
	struct client *slot;
	const char *why;

	(void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
	slot = find_slot(server, fd, &peer, &why);
	if (slot && watch(server, fd, EPOLLIN, (uint32_t)(slot - server->clients)) < 0) {
		slot = NULL;
		why = "out of kernel memory";
	}
	if (!slot) {
		_cleanup_free_ char *text = xasprintf(CONTROL_ERROR "%s\n", why);

		say(server, LOG_LEVEL_INFO, "control: pid %d, user %u refused: %s", peer.pid,
		    peer.uid, why);
		(void)send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
		(void)close(fd);
		return;
	}
	*slot = (struct client){ .fd = fd,
				 .answer = slot->answer,
				 .peer = peer,
				 .deadline_ms = clock_now_ms() + server->client_time_ms };
}

static void accept_client(struct control_server *server)
{
	int fd = control_accept(server->listener, &server->spare);

	if (fd >= 0)
		add_client(server, fd);
	else if (fd == -ENFILE)
		say(server, LOG_LEVEL_WARNING, "control: no descriptor, a connection was refused");
}

void control_server_run(struct control_server *server)
{
	struct epoll_event events[EVENTS_A_RUN];
	int n = epoll_wait(server->epoll, events, EVENTS_A_RUN, 0), i;
	bool is_due = false;

	for (i = 0; i < n; i++) {
		if (events[i].data.u32 == EVENT_LISTENER)
			accept_client(server);
		else if (events[i].data.u32 == EVENT_TIMER)
			is_due = true;
		else
			serve(server, events[i].data.u32);
	}
	/* Last: a client that did its part is not overdue only because the server came late. */
	if (is_due)
		end_overdue(server);
	set_timer(server);
}

int control_server_fd(const struct control_server *server)
{
	return server->epoll;
}

/* Opens the server's epoll, listener, timer and spare descriptors. */
static int open_descriptors(struct control_server *server, struct error *err)
{
	int r = 0;

	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	server->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	server->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (server->epoll < 0 || server->timer < 0 || server->spare < 0)
		return error_errno(err, -errno, "cannot set up the control socket");
	r = watch(server, server->listener, EPOLLIN, EVENT_LISTENER);
	if (r == 0)
		r = watch(server, server->timer, EPOLLIN, EVENT_TIMER);
	return r < 0 ? error_errno(err, r, "cannot watch the control socket") : 0;
}

int control_server_new(const struct control_server_config *config, struct control_server **ret,
		       struct error *err)
{
	struct control_server *server = xcalloc(1, sizeof(*server));
	size_t i;
	int r;

	*server = (struct control_server){ .config = *config,
					   .client_time_ms =
						   config->client_time_ms ?: CONTROL_CLIENT_TIME_MS,
					   .group = (gid_t)-1,
					   .listener = -1,
					   .epoll = -1,
					   .timer = -1,
					   .spare = -1 };
	for (i = 0; i < CONTROL_CLIENTS_MAX; i++)
		server->clients[i].fd = -1;
	r = control_group(config->group, &server->group, err);
	if (r == 0)
		r = server->directory = control_directory(config->session_dir, err);
	if (r >= 0)
		r = server->listener =
			control_listen(server->directory, config->session_dir, server->group, err);
	if (r >= 0)
		r = open_descriptors(server, err);
	if (r < 0) {
		control_server_free(server);
		return r;
	}
	*ret = server;
	return 0;
}

gid_t control_server_group(const struct control_server *server)
{
	return server->group;
}

void control_server_move(struct control_server *server, int directory, int listener)
{
	cleanup_closep(&server->directory);
	cleanup_closep(&server->listener);
	server->directory = directory;
	server->listener = listener;
	if (watch(server, listener, EPOLLIN, EVENT_LISTENER) < 0)
		say(server, LOG_LEVEL_ERROR, "control: cannot watch the new control socket");
}

void control_server_free(struct control_server *server)
{
	size_t i;

	if (!server)
		return;
	for (i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		cleanup_closep(&server->clients[i].fd);
		strbuf_done(&server->clients[i].answer);
	}
	if (server->listener >= 0)
		control_unlisten(server->directory);
	cleanup_closep(&server->listener);
	cleanup_closep(&server->epoll);
	cleanup_closep(&server->timer);
	cleanup_closep(&server->spare);
	cleanup_closep(&server->directory);
	free(server);
}
