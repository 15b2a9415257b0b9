/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clients of all manners against a server in the same thread: what a client does never makes
 * control_server_run() wait, or the test would hang. */
#include "test.h"

#include "base/clock.h"
#include "base/log.h"
#include "control/client.h"
#include "control/server.h"
#include "control/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

static int run_echo(const char *arg, struct strbuf *answer, void *data, struct error *err _unused_)
{
	++*(int *)data;
	control_answer(answer, "echo", "%s", arg);
	return 0;
}

static int run_count(const char *arg _unused_, struct strbuf *answer, void *data,
		     struct error *err _unused_)
{
	control_answer(answer, "count", "%d", *(int *)data);
	return 0;
}

static int run_big(const char *arg _unused_, struct strbuf *answer, void *data _unused_,
		   struct error *err _unused_)
{
	for (int i = 0; i < 20000; i++)
		control_answer(answer, "line", "%d of a long answer", i);
	return 0;
}

static int run_fail(const char *arg, struct strbuf *answer, void *data _unused_, struct error *err)
{
	control_answer(answer, "half", "an answer");
	return error_set(err, -EIO, "no %s\ntoday", arg ?: "luck");
}

static const struct control_command commands[] = {
	{ "echo", "TEXT", run_echo, "say it back" },
	{ "count", NULL, run_count, "how often echo ran" },
	{ "big", NULL, run_big, "a lot" },
	{ "fail", "[WHAT]", run_fail, "fail" },
	{ NULL, NULL, NULL, NULL },
};

struct fixture {
	char *dir;
	struct control_server *server;
	int echoes;
};

static void fixture_init(struct fixture *f, int client_time_ms)
{
	struct control_server_config config = { .commands = commands,
						.data = &f->echoes,
						.client_time_ms = client_time_ms };
	struct error err = ERROR_INIT;

	*f = (struct fixture){ .dir = test_directory() };
	config.session_dir = f->dir;
	if (control_server_new(&config, &f->server, &err) < 0) {
		printf("# %s\n", err.text);
		abort();
	}
}

static void fixture_done(struct fixture *f)
{
	control_server_free(f->server);
	test_directory_donep(&f->dir);
}

/* Lets the server do all that it has to do now. */
static void pump(struct fixture *f)
{
	struct pollfd p = { .fd = control_server_fd(f->server), .events = POLLIN };

	while (poll(&p, 1, 0) > 0)
		control_server_run(f->server);
}

static int connected(const struct fixture *f)
{
	struct error err = ERROR_INIT;
	int fd = control_connect(f->dir, 1000, &err);

	if (fd < 0)
		printf("# %s\n", err.text);
	CHECK(fd >= 0);
	return fd;
}

/* Sends bytes, lets the server work, and returns what came back; "" if nothing did. */
static const char *ask(struct fixture *f, int fd, const void *request, size_t size)
{
	static char answer[8192];
	ssize_t n;

	CHECK_EQ(send(fd, request, size, MSG_NOSIGNAL), size);
	pump(f);
	n = recv(fd, answer, sizeof(answer) - 1, MSG_DONTWAIT);
	answer[MAX(n, (ssize_t)0)] = '\0';
	return answer;
}

static bool hung_up(int fd)
{
	char block[65536];
	ssize_t n;

	do
		n = recv(fd, block, sizeof(block), MSG_DONTWAIT);
	while (n > 0);
	return n == 0 || errno == ECONNRESET;
}

static void requests_are_lines(void)
{
	static const struct {
		const char *request, *answer;
	} rows[] = {
		{ "echo a b\n", "echo a b\n.\n" },
		{ "echo\n", "error: echo needs TEXT\n" },
		{ "echo \n", "error: echo needs TEXT\n" },
		{ "count 1\n", "error: count: takes no argument\n" },
		{ "fail\n", "error: no luck?today\n" },
		{ "fail money\n", "error: no money?today\n" },
		{ "\n", "error: unknown request; \"help\" lists the requests\n" },
		{ "ECHO a\n", "error: unknown request; \"help\" lists the requests\n" },
		{ "echo a\tb\n", "error: control characters in the request\n" },
		{ "count\ncount\n", "count 1\n.\ncount 1\n.\n" },
		{ "help\n", "echo TEXT: say it back\ncount how often echo ran\nbig a lot\n"
			    "fail [WHAT]: fail\n.\n" },
	};
	struct fixture f;
	size_t i;
	int fd;

	fixture_init(&f, 0);
	fd = connected(&f);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR(ask(&f, fd, rows[i].request, strlen(rows[i].request)), rows[i].answer);
	CHECK_STR(ask(&f, fd, "count\0x\n", 8), "error: control characters in the request\n");
	CHECK_STR(ask(&f, fd, "ec", 2), "");
	CHECK_STR(ask(&f, fd, "ho half", 7), "");
	CHECK_STR(ask(&f, fd, "\n", 1), "echo half\n.\n");
	(void)close(fd);
	fixture_done(&f);
}

static void endless_line_is_cut_off(void)
{
	char line[4 * CONTROL_LINE_MAX];
	struct fixture f;
	int fd;

	fixture_init(&f, 0);
	fd = connected(&f);
	memset(line, 'x', sizeof(line));
	CHECK_STR(ask(&f, fd, line, sizeof(line)),
		  "error: the request is longer than 1023 bytes\n");
	CHECK(hung_up(fd));
	CHECK_EQ(f.echoes, 0);
	(void)close(fd);
	fixture_done(&f);
}

static void silent_clients_lose_their_connection(void)
{
	struct pollfd p = { .events = POLLIN };
	struct fixture f;
	int silent, slow;

	fixture_init(&f, 30);
	silent = connected(&f);
	slow = connected(&f);
	CHECK_STR(ask(&f, slow, "ech", 3), "");
	p.fd = control_server_fd(f.server);
	while (!hung_up(silent) || !hung_up(slow)) {
		if (poll(&p, 1, 5000) <= 0)
			break;
		control_server_run(f.server);
	}
	CHECK(hung_up(silent) && hung_up(slow));
	CHECK_EQ(poll(&p, 1, 0), 0);
	(void)close(silent);
	(void)close(slow);
	fixture_done(&f);
}

static void client_that_does_not_read_hinders_nobody(void)
{
	struct fixture f;
	int deaf, other;

	fixture_init(&f, 0);
	deaf = connected(&f);
	CHECK_EQ(send(deaf, "big\nbig\nbig\n", 12, MSG_NOSIGNAL), 12);
	pump(&f);
	other = connected(&f);
	CHECK_STR(ask(&f, other, "echo here\n", 10), "echo here\n.\n");
	(void)close(deaf);
	pump(&f);
	CHECK_STR(ask(&f, other, "echo again\n", 11), "echo again\n.\n");
	(void)close(other);
	fixture_done(&f);
}

static void long_answers_arrive_whole(void)
{
	char block[65536];
	struct fixture f;
	size_t lines = 0;
	ssize_t n = 0, i;
	int fd;

	fixture_init(&f, 0);
	fd = connected(&f);
	CHECK_EQ(send(fd, "big\nbig\necho end\n", 17, MSG_NOSIGNAL), 17);
	do {
		pump(&f);
		n = recv(fd, block, sizeof(block), MSG_DONTWAIT);
		for (i = 0; i < n; i++)
			lines += block[i] == '\n';
	} while (n > 0 && lines < 40004);
	CHECK_EQ(lines, 40004);
	(void)close(fd);
	fixture_done(&f);
}

static void one_user_has_only_so_many_connections(void)
{
	struct fixture f;
	int fds[CONTROL_CLIENTS_PER_USER], one_more, i;

	fixture_init(&f, 0);
	for (i = 0; i < CONTROL_CLIENTS_PER_USER; i++) {
		fds[i] = connected(&f);
		pump(&f);
	}
	one_more = connected(&f);
	pump(&f);
	CHECK_STR(ask(&f, fds[0], "echo still\n", 11), "echo still\n.\n");
	CHECK(hung_up(one_more));
	for (i = 0; i < CONTROL_CLIENTS_PER_USER; i++)
		(void)close(fds[i]);
	(void)close(one_more);
	pump(&f);
	one_more = connected(&f);
	CHECK_STR(ask(&f, one_more, "echo free\n", 10), "echo free\n.\n");
	(void)close(one_more);
	fixture_done(&f);
}

static void count_line(enum log_level level _unused_, const char *text _unused_, void *data)
{
	++*(int *)data;
}

/* As if another thread took each descriptor that is closed. */
static void what_is_not_refused_is_not_logged(void)
{
	struct rlimit old, low;
	struct fixture f;
	int fd, lines = 0;
	int64_t began_ms;

	fixture_init(&f, 0);
	fd = connected(&f);
	(void)getrlimit(RLIMIT_NOFILE, &old);
	low = (struct rlimit){ 0, old.rlim_max };
	log_to(LOG_LEVEL_DEBUG, count_line, &lines);
	(void)setrlimit(RLIMIT_NOFILE, &low);
	began_ms = clock_now_ms();
	for (int i = 0; i < 4; i++)
		control_server_run(f.server);
	CHECK(clock_now_ms() - began_ms >= 4); /* it waits in between */
	(void)setrlimit(RLIMIT_NOFILE, &old);
	log_to(LOG_LEVEL_ERROR, NULL, NULL);
	CHECK_EQ(lines, 0);
	CHECK_STR(ask(&f, fd, "echo now\n", 9), "echo now\n.\n");
	(void)close(fd);
	fixture_done(&f);
}

static void no_free_descriptor_is_no_busy_loop(void)
{
	struct rlimit old, low;
	struct fixture f;
	int refused, served;

	fixture_init(&f, 0);
	refused = connected(&f);
	served = dup(0);
	(void)getrlimit(RLIMIT_NOFILE, &old);
	low = (struct rlimit){ (rlim_t)served, old.rlim_max };
	(void)close(served);
	(void)setrlimit(RLIMIT_NOFILE, &low);
	pump(&f);
	(void)setrlimit(RLIMIT_NOFILE, &old);
	CHECK(hung_up(refused));
	served = connected(&f);
	CHECK_STR(ask(&f, served, "echo now\n", 9), "echo now\n.\n");
	(void)close(refused);
	(void)close(served);
	fixture_done(&f);
}

/* Calls in a child, since a call waits; its outcome as exit status. */
static int call_in_child(struct fixture *f, const char *dir, const char *request,
			 const char *expected)
{
	struct pollfd p = { .fd = control_server_fd(f->server), .events = POLLIN };
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;
		struct error err = ERROR_INIT;
		int r = control_call(dir, request, &answer, &err);

		_exit(strcmp(r < 0 ? err.text : strbuf_text(&answer), expected) ? 99 : -r);
	}
	while (waitpid(pid, &status, WNOHANG) == 0)
		if (poll(&p, 1, 10) > 0)
			control_server_run(f->server);
	return WEXITSTATUS(status);
}

static void calls_get_answers_or_reasons(void)
{
	_cleanup_directory_ char *empty = test_directory();
	_cleanup_free_ char *nobody =
		xasprintf("no daemon runs for the session directory %s", empty);
	struct fixture f;

	fixture_init(&f, 0);
	CHECK_EQ(call_in_child(&f, f.dir, "echo x", "echo x\n"), 0);
	CHECK_EQ(call_in_child(&f, f.dir, "fail", "no luck?today"), EREMOTEIO);
	CHECK_EQ(call_in_child(&f, f.dir, "nonsense",
			       "unknown request; \"help\" lists the requests"),
		 EREMOTEIO);
	CHECK_EQ(call_in_child(&f, empty, "echo x", nobody), ENOENT);
	fixture_done(&f);
}

static void values_are_found_by_whole_keys(void)
{
	static const char answer[] = "state running\nstate_of_mind 2\nempty \n";
	_cleanup_free_ char *state = control_value(answer, "state");
	_cleanup_free_ char *mind = control_value(answer, "state_of_mind");
	_cleanup_free_ char *empty = control_value(answer, "empty");

	CHECK_STR(state, "running");
	CHECK_STR(mind, "2");
	CHECK_STR(empty, "");
	CHECK(!control_value(answer, "sta"));
}

static void socket_is_private_replaced_and_removed(void)
{
	struct control_server_config config = { .commands = commands };
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, CONTROL_SOCKET);
	struct control_server *server = NULL;
	struct error err = ERROR_INIT;
	struct stat st;
	int directory = control_directory(dir, &err), stale;

	umask(0);
	stale = control_listen(directory, dir, (gid_t)-1, &err);
	CHECK(stale >= 0);
	(void)close(stale); /* as a killed daemon leaves it */
	CHECK_EQ(control_connect(dir, 100, &err), -ENOENT);
	config.session_dir = dir;
	CHECK_EQ(control_server_new(&config, &server, &err), 0);
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_mode & 07777, 0600);
	control_server_free(server);
	CHECK(stat(path, &st) < 0);
	CHECK_EQ(path_write(path, "not a socket", 0600, &err), 0);
	CHECK_EQ(control_server_new(&config, &server, &err), -EEXIST);
	CHECK_EQ(stat(path, &st), 0);
	umask(022);
	(void)close(directory);
}

static void long_directories_work_too(void)
{
	_cleanup_directory_ char *base = test_directory();
	struct control_server_config config = { .commands = commands };
	struct control_server *server = NULL;
	struct error err = ERROR_INIT;
	struct fixture f = { 0 };
	char name[150];
	int fd;

	memset(name, 'd', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	f.dir = path_join(base, name);
	config.session_dir = f.dir;
	config.data = &f.echoes;
	CHECK_EQ(path_make_dirs(f.dir, 0755, &err), 0);
	CHECK_EQ(control_server_new(&config, &server, &err), 0);
	f.server = server;
	fd = connected(&f);
	CHECK_STR(ask(&f, fd, "echo far\n", 9), "echo far\n.\n");
	(void)close(fd);
	control_server_free(server);
	free(f.dir);
}

static void unknown_group_is_an_error(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, CONTROL_SOCKET);
	struct control_server_config config = { .session_dir = dir,
						.commands = commands,
						.group = "no-such-group-here" };
	struct control_server *server = NULL;
	struct error err = ERROR_INIT;

	CHECK_EQ(control_server_new(&config, &server, &err), -ENOENT);
	CHECK_STR(err.text, "no group 'no-such-group-here' for the control socket");
	CHECK(access(path, F_OK) < 0);
}

TESTS(T(requests_are_lines), T(endless_line_is_cut_off), T(silent_clients_lose_their_connection),
      T(client_that_does_not_read_hinders_nobody), T(long_answers_arrive_whole),
      T(one_user_has_only_so_many_connections), T(no_free_descriptor_is_no_busy_loop),
      T(what_is_not_refused_is_not_logged), T(calls_get_answers_or_reasons),
      T(values_are_found_by_whole_keys), T(socket_is_private_replaced_and_removed),
      T(long_directories_work_too), T(unknown_group_is_an_error))
