/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests that nobody waits for, and a server in the same thread: had either to wait, the test
 * would hang. */
#include "test.h"

#include "oprofilefs/asker.h"
#include "control/server.h"

#include <errno.h>
#include <poll.h>

static int run_echo(const char *arg, struct strbuf *answer, void *data _unused_,
		    struct error *err _unused_)
{
	control_answer(answer, "echo", "%s", arg);
	return 0;
}

static int run_fail(const char *arg, struct strbuf *answer _unused_, void *data _unused_,
		    struct error *err)
{
	return error_set(err, -EIO, "%s", arg);
}

static const struct control_command commands[] = {
	{ "echo", "TEXT", run_echo, "say it back" },
	{ "fail", "TEXT", run_fail, "fail" },
	{ NULL, NULL, NULL, NULL },
};

struct fixture {
	char *dir;
	struct control_server *server;
	struct asker *asker;
	struct strbuf taken; /* "number:answer;" of each */
};

static void start_server(struct fixture *f)
{
	struct control_server_config config = { .session_dir = f->dir, .commands = commands };
	struct error err = ERROR_INIT;

	if (control_server_new(&config, &f->server, &err) < 0) {
		printf("# %s\n", err.text);
		abort();
	}
}

static void fixture_init(struct fixture *f)
{
	*f = (struct fixture){ .dir = test_directory() };
	start_server(f);
	f->asker = asker_new(f->dir);
}

static void fixture_done(struct fixture *f)
{
	asker_free(f->asker);
	control_server_free(f->server);
	strbuf_done(&f->taken);
	test_directory_donep(&f->dir);
}

static void take(int r, const char *answer, void *data)
{
	struct fixture *f = data;

	strbuf_addf(&f->taken, "%d:%s;", -r, answer ?: "");
}

/* Lets both sides do all that there is to do. */
static void pump(struct fixture *f)
{
	for (;;) {
		struct pollfd p[] = {
			{ .fd = f->server ? control_server_fd(f->server) : -1, .events = POLLIN },
			{ .fd = asker_fd(f->asker), .events = asker_events(f->asker) },
		};

		if (poll(p, ARRAY_SIZE(p), 0) <= 0)
			return;
		if (p[0].revents)
			control_server_run(f->server);
		if (p[1].revents)
			asker_run(f->asker);
	}
}

static void answers_come_in_order(void)
{
	struct fixture f;

	fixture_init(&f);
	asker_ask(f.asker, "echo one", take, &f);
	asker_ask(f.asker, "fail EBUSY: not now", take, &f);
	asker_ask(f.asker, "fail no number: at all", take, &f);
	asker_ask(f.asker, "echo error: two", take, &f);
	CHECK_STR(strbuf_text(&f.taken), "");
	pump(&f);
	CHECK_STR(strbuf_text(&f.taken), "0:echo one\n;16:EBUSY: not now;121:no number: at all;"
					 "0:echo error: two\n;");
	CHECK_EQ(asker_fd(f.asker), -1);
	asker_ask(f.asker, "echo again", take, &f);
	pump(&f);
	CHECK(strstr(strbuf_text(&f.taken), ";0:echo again\n;"));
	fixture_done(&f);
}

static void a_missing_daemon_is_reported(void)
{
	struct fixture f;

	fixture_init(&f);
	asker_ask(f.asker, "echo lost", take, &f);
	asker_ask(f.asker, "echo too", take, &f);
	control_server_free(STEAL(f.server));
	pump(&f);
	CHECK_STR(strbuf_text(&f.taken), "104:;104:;");
	asker_ask(f.asker, "echo nobody", take, &f);
	CHECK_STR(strbuf_text(&f.taken), "104:;104:;111:;");
	start_server(&f);
	asker_ask(f.asker, "echo back", take, &f);
	pump(&f);
	CHECK_STR(strbuf_text(&f.taken), "104:;104:;111:;0:echo back\n;");
	asker_ask(f.asker, "echo never", take, &f);
	asker_free(STEAL(f.asker));
	CHECK_STR(strbuf_text(&f.taken), "104:;104:;111:;0:echo back\n;104:;");
	fixture_done(&f);
}

TESTS(T(answers_come_in_order), T(a_missing_daemon_is_reported))
