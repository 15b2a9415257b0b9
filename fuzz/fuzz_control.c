/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to the control socket, as any client might send them: the server answers or hangs up,
 * never waits, and only runs commands that are whole, clean lines. */
#include "fuzz.h"

#include "file/path.h"
#include "control/server.h"
#include "control/socket.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static int run_echo(const char *arg, struct strbuf *answer, void *data, struct error *err)
{
	(void)data;
	(void)err;
	for (; *arg; arg++)
		if ((unsigned char)*arg < ' ')
			abort();
	control_answer(answer, "echo", "%s", "heard");
	return 0;
}

static const struct control_command commands[] = {
	{ "echo", "TEXT", run_echo, "say it back" },
	{ NULL, NULL, NULL, NULL },
};

static char dir[] = "/tmp/fuzz-control-XXXXXX";
static struct control_server *server;

static void tidy(void)
{
	control_server_free(server);
	(void)path_remove_tree(dir, NULL);
}

static void set_up(void)
{
	struct control_server_config config = { .session_dir = dir, .commands = commands };

	if (!mkdtemp(dir) || control_server_new(&config, &server, NULL) < 0)
		abort();
	(void)atexit(tidy);
}

/* Lets the server do what there is to do; it must come to an end. */
static void pump(void)
{
	struct pollfd p = { .fd = control_server_fd(server), .events = POLLIN };
	int turns = 0;

	while (poll(&p, 1, 0) > 0) {
		control_server_run(server);
		if (++turns > 100000)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_close_ int fd = -1;
	char answer[4096];
	ssize_t n;

	if (!server)
		set_up();
	fd = control_connect(dir, 1000, NULL);
	if (fd < 0)
		abort();
	pump();
	while (size && (n = send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT)) > 0) {
		data += n;
		size -= (size_t)n;
		pump();
	}
	/* Whatever came back is whole lines of text. */
	while ((n = recv(fd, answer, sizeof(answer), MSG_DONTWAIT)) > 0)
		if (memchr(answer, '\0', (size_t)n))
			abort();
	(void)close(STEAL_FD(fd));
	pump();
	return 0;
}
