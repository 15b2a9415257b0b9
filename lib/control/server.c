/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/server.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "control/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

enum { GROUPS_MAX = 1024, EVENTS_A_RUN = 16 };

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
};

struct control_server {
	const struct control_command *commands;
	void *data;
	void (*adopt)(int fd, void *data);
	int client_time_ms;
	gid_t group; /* members may connect; (gid_t)-1: none */
	int directory, listener, epoll, timer;
	int spare; /* closed to accept and refuse a connection when descriptors run out */
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

static void drop(struct client *client)
{
	(void)close(client->fd);
	strbuf_done(&client->answer);
	client->fd = -1;
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
		log_info("control: pid %d read too slowly; disconnected", client->peer.pid);
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

/* Replaces control characters, so that a path or a peer's text cannot end a line of the answer. */
static void make_printable(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

void control_answer(struct strbuf *answer, const char *key, const char *format, ...)
{
	_cleanup_free_ char *value = NULL;
	va_list ap;

	va_start(ap, format);
	value = xvasprintf(format, ap);
	va_end(ap);
	make_printable(value);
	strbuf_addf(answer, "%s %s\n", key, value);
}

static void list_commands(const struct control_server *server, struct strbuf *answer)
{
	for (const struct control_command *c = server->commands; c->name; c++)
		control_answer(answer, c->name, "%s%s%s", c->arg ?: "", c->arg ? ": " : "",
			       c->help);
}

static int run_command(const struct control_server *server, const char *name, const char *arg,
		       struct strbuf *answer, struct error *err)
{
	if (!strcmp(name, "help")) {
		list_commands(server, answer);
		return 0;
	}
	for (const struct control_command *c = server->commands; c->name; c++) {
		if (strcmp(name, c->name) != 0)
			continue;
		if (arg && !c->arg)
			return error_set(err, -EINVAL, "%s: takes no argument", name);
		if (!arg && c->arg && c->arg[0] != '[')
			return error_set(err, -EINVAL, "%s needs %s", name, c->arg);
		return c->run(arg, answer, server->data, err);
	}
	return error_set(err, -EINVAL, "unknown request; \"help\" lists the requests");
}

static bool is_text(const char *line, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			return false;
	return true;
}

/* Runs one request line, which it modifies, and puts the answer in the client's buffer. */
static void answer_line(const struct control_server *server, struct client *client, char *line,
			size_t length)
{
	struct error err = ERROR_INIT;
	char *arg = strchr(line, ' ');
	int r;

	if (!is_text(line, length)) {
		strbuf_adds(&client->answer, CONTROL_ERROR "control characters in the request\n");
		return;
	}
	log_debug("control: \"%s\" from pid %d, user %u", line, client->peer.pid, client->peer.uid);
	if (arg)
		*arg++ = '\0';
	r = run_command(server, line, arg && *arg ? arg : NULL, &client->answer, &err);
	if (r >= 0) {
		strbuf_adds(&client->answer, CONTROL_END "\n");
		client->adopted = r == CONTROL_ADOPT;
		return;
	}
	make_printable(err.text);
	strbuf_clear(&client->answer);
	strbuf_addf(&client->answer, CONTROL_ERROR "%s\n", err.text);
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
		r = send_answer(client);
		if (r < 0 || client->adopted)
			return r;
		client->deadline_ms = clock_now_ms() + server->client_time_ms;
	}
	if (client->length < sizeof(client->line))
		return 0;
	strbuf_addf(&client->answer, CONTROL_ERROR "a request has at most %d bytes\n",
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
	strbuf_done(&client->answer);
	server->adopt(fd, server->data);
}

/* Serves a client that is ready: sends the rest of an answer before running more requests. */
static void serve(struct control_server *server, uint32_t index)
{
	struct client *client = &server->clients[index];
	bool waiting = client->answer.length > 0;
	struct epoll_event event = { .data.u32 = index };
	int r;

	if (client->fd < 0)
		return;
	r = waiting ? send_answer(client) : receive(server, client);
	if (waiting && r == 0 && !client->closing && !client->adopted) {
		client->deadline_ms = clock_now_ms() + server->client_time_ms;
		r = run_lines(server, client);
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
	(void)epoll_ctl(server->epoll, EPOLL_CTL_MOD, client->fd, &event);
}

/* Whether the peer is in the group, by its primary or a supplementary group. */
static bool in_group(int fd, const struct ucred *peer, gid_t group)
{
	gid_t groups[GROUPS_MAX];
	socklen_t size = sizeof(groups);
	size_t i;

	if (group == (gid_t)-1)
		return false;
	if (peer->gid == group)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
		return false;
	for (i = 0; i < size / sizeof(groups[0]); i++)
		if (groups[i] == group)
			return true;
	return false;
}

/* A free slot for a new client, or NULL with the reason in *@ret_why. */
static struct client *find_slot(struct control_server *server, int fd, const struct ucred *peer,
				const char **ret_why)
{
	struct client *slot = NULL;
	unsigned int same_user = 0;
	size_t i;

	*ret_why = "you may not control this daemon";
	if (peer->uid != 0 && peer->uid != geteuid() && !in_group(fd, peer, server->group))
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

		log_info("control: pid %d, user %u refused: %s", peer.pid, peer.uid, why);
		(void)send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
		(void)close(fd);
		return;
	}
	*slot = (struct client){ .fd = fd,
				 .peer = peer,
				 .deadline_ms = clock_now_ms() + server->client_time_ms };
}

/* Accepts a waiting connection with the spare descriptor and hangs up. Otherwise, with no free
 * descriptor, that connection would keep the listener readable forever. */
static void refuse_without_descriptor(struct control_server *server)
{
	int fd;

	log_warn("control: no free file descriptor, a connection was refused");
	(void)close(server->spare);
	fd = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0)
		(void)close(fd);
	server->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void accept_client(struct control_server *server)
{
	int fd = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd >= 0)
		add_client(server, fd);
	else if (errno == EMFILE || errno == ENFILE)
		refuse_without_descriptor(server);
}

void control_server_run(struct control_server *server)
{
	struct epoll_event events[EVENTS_A_RUN];
	int n = epoll_wait(server->epoll, events, EVENTS_A_RUN, 0), i;

	for (i = 0; i < n; i++) {
		if (events[i].data.u32 == EVENT_LISTENER)
			accept_client(server);
		else if (events[i].data.u32 == EVENT_TIMER)
			end_overdue(server);
		else
			serve(server, events[i].data.u32);
	}
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

static gid_t group_id(const char *name)
{
	const struct group *group = name ? getgrnam(name) : NULL;

	return group ? group->gr_gid : (gid_t)-1;
}

int control_server_new(const struct control_server_config *config, struct control_server **ret,
		       struct error *err)
{
	struct control_server *server = xcalloc(1, sizeof(*server));
	size_t i;
	int r;

	*server = (struct control_server){ .commands = config->commands,
					   .data = config->data,
					   .adopt = config->adopt,
					   .client_time_ms =
						   config->client_time_ms ?: CONTROL_CLIENT_TIME_MS,
					   .group = group_id(config->group),
					   .listener = -1,
					   .epoll = -1,
					   .timer = -1,
					   .spare = -1 };
	for (i = 0; i < CONTROL_CLIENTS_MAX; i++)
		server->clients[i].fd = -1;
	r = server->directory = control_directory(config->session_dir, err);
	if (r >= 0)
		r = server->listener =
			control_listen(server->directory, config->session_dir, config->group, err);
	if (r >= 0)
		r = open_descriptors(server, err);
	if (r < 0) {
		control_server_free(server);
		return r;
	}
	*ret = server;
	return 0;
}

void control_server_free(struct control_server *server)
{
	size_t i;

	if (!server)
		return;
	for (i = 0; i < CONTROL_CLIENTS_MAX; i++)
		if (server->clients[i].fd >= 0)
			drop(&server->clients[i]);
	if (server->listener >= 0)
		control_unlisten(server->directory);
	cleanup_closep(&server->listener);
	cleanup_closep(&server->epoll);
	cleanup_closep(&server->timer);
	cleanup_closep(&server->spare);
	cleanup_closep(&server->directory);
	free(server);
}
