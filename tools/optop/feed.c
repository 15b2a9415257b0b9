/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/optop/feed.h"

#include "base/clock.h"
#include "base/macro.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "file/scratch.h"
#include "control/client.h"
#include "event/event.h"
#include "profile/profile.h"
#include "collect/collector.h"
#include "tools/operf/helpers.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The session of our own is thrown away at the end. */
#define OWN_SESSION_BYTES (UINT64_C(64) << 20)

enum { UPDATE_TIMEOUT_MS = 10000, KEEP_MS = 24 * 3600 * 1000 };

struct feed {
	char *session_dir;
	struct scratch *scratch; /* of the session of our own, or NULL */
	pid_t sampler;		 /* our own, or 0 */
	int socket;		 /* to the sampler; or -1 */
};

/* What the sampler answers to the request with this number. */
struct reply {
	uint64_t request;
	int code; /* 0, or -errno */
	char text[sizeof(((struct error *)0)->text)];
};

static void reply(int socket, uint64_t request, int code, const struct error *err)
{
	struct reply answer = { .request = request, .code = MIN(code, 0) };

	if (code < 0)
		(void)snprintf(answer.text, sizeof(answer.text), "%s", err->text);
	/* Nobody waits for the answers to questions that were given up. */
	(void)!send(socket, &answer, sizeof(answer), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Waits for the answer to @request; those to earlier questions, which were given up, are
 * discarded. */
static int await_reply(int socket, uint64_t request, struct error *err)
{
	struct pollfd p = { .fd = socket, .events = POLLIN };
	struct reply answer;

	do {
		if (poll(&p, 1, UPDATE_TIMEOUT_MS) <= 0)
			return error_set(err, -ETIMEDOUT,
					 "the process that samples does not answer");
		if (recv(socket, &answer, sizeof(answer), 0) != (ssize_t)sizeof(answer))
			return error_set(err, -ECONNRESET, "the process that samples has ended");
	} while (answer.request != request);
	answer.text[sizeof(answer.text) - 1] = '\0';
	return answer.code < 0 ? error_set(err, answer.code, "%s", answer.text) : 0;
}

/* --- the process that samples --- */

static int open_collector(const char *directory, uint64_t hz, const struct helpers *helpers,
			  struct collector **ret, struct error *err)
{
	struct event events[EVENT_MAX];
	struct evderived derived;
	int count = event_parse_all("TIMER", events, &derived, err);
	struct collector_config config = {
		.drive = { .scope = DRIVER_SYSTEM,
			   .timer_hz = hz,
			   .callgraph_depth = DRIVER_DEPTH_DEFAULT,
			   .unwind_bytes = UINT64_C(64) << 20,
			   .events = events,
			   .event_count = (size_t)MAX(count, 0),
			   .derived = derived },
		.record = { .session_dir = directory,
			    .session_name = "current",
			    .command = "optop",
			    .separate = RECORD_SEPARATE_LIB | RECORD_SEPARATE_KERNEL,
			    .keep_ms = KEEP_MS,
			    .history_max = OWN_SESSION_BYTES },
		.parser = helpers->parser,
		.opener = helpers->opener,
		.keeper = helpers->keeper,
	};

	return count < 0 ? count : collector_new(&config, ret, err);
}

/* Samples until the other end of @socket is closed. Returns 0 or -errno. */
static int sample(const char *directory, uint64_t hz, int socket, struct error *err)
{
	_cleanup_(helpers_done) struct helpers helpers = { 0 };
	_cleanup_(collector_freep) struct collector *c = NULL;
	struct pollfd fds[2] = { { .fd = socket, .events = POLLIN }, { .events = POLLIN } };
	int r = helpers_start(&helpers, false, err);
	uint64_t request;

	if (r == 0)
		r = open_collector(directory, hz, &helpers, &c, err);
	if (r == 0)
		r = collector_start(c, err);
	if (r < 0)
		return r;
	reply(socket, 0, 0, err);
	fds[1].fd = collector_fd(c);
	for (;;) {
		(void)poll(fds, ARRAY_SIZE(fds), COLLECTOR_SYNC_MS);
		if (fds[0].revents &&
		    recv(socket, &request, sizeof(request), 0) != (ssize_t)sizeof(request))
			break;
		r = fds[0].revents ? collector_dump(c, err) : collector_sync(c, false, err);
		if (fds[0].revents)
			reply(socket, request, r, err);
		else if (r < 0 && !collector_can_go_on(r))
			return r;
	}
	return collector_stop(c, err);
}

static _Noreturn void run_sampler(const char *directory, uint64_t hz, int socket)
{
	struct error err = ERROR_INIT;
	int r;

	/* It ends with the terminal's process, not by the keys pressed there. */
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	r = sample(directory, hz, socket, &err);
	if (r < 0)
		reply(socket, 0, r, &err);
	_exit(r < 0);
}

static int start_sampler(struct feed *f, uint64_t hz, struct error *err)
{
	int ends[2];
	int r = scratch_new("optop", OWN_SESSION_BYTES, &f->scratch, err);

	if (r < 0)
		return r;
	f->session_dir = xstrdup(scratch_path(f->scratch));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_errno(err, -errno, "cannot make a socket");
	f->socket = ends[0];
	f->sampler = fork();
	if (f->sampler == 0) {
		(void)close(ends[0]);
		run_sampler(f->session_dir, hz, ends[1]);
	}
	r = f->sampler < 0 ? error_errno(err, -errno, "cannot start a process that samples") : 0;
	(void)close(ends[1]);
	return r < 0 ? r : await_reply(f->socket, 0, err);
}

/* --- */

/* Whether a daemon samples into @session_dir: 1 or 0; -errno if it cannot be asked. */
static int ask_daemon(const char *session_dir, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;
	_cleanup_free_ char *state = NULL;
	int r = control_call(session_dir, "status", &answer, err);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	state = control_value(strbuf_text(&answer), "state");
	return state && !strcmp(state, "running");
}

int feed_open(const char *session_dir, uint64_t hz, struct feed **ret, struct error *err)
{
	_cleanup_(feed_closep) struct feed *f = xcalloc(1, sizeof(*f));
	const char *directory = session_dir ?: PROFILE_SYSTEM_DIR;
	int r = ask_daemon(directory, err);

	f->socket = -1;
	if (r < 0 && r != -EACCES)
		return r;
	if (r != 0)
		f->session_dir = xstrdup(directory);
	else if (session_dir && (access(session_dir, F_OK) < 0 || geteuid() != 0))
		return error_set(err, -ENOENT,
				 "no daemon samples into %s%s; start one with: opcontrol "
				 "--session-dir=%s --start",
				 session_dir,
				 geteuid() ? ", and only root may sample this machine"
					   : ", which is not there",
				 session_dir);
	else if (geteuid() != 0)
		return error_set(err, -EPERM,
				 "no daemon samples this machine, and only root may do it here; "
				 "start it with: sudo opcontrol --start");
	else if ((r = start_sampler(f, hz, err)) < 0)
		return r;
	*ret = STEAL(f);
	return 0;
}

void feed_close(struct feed *f)
{
	if (!f)
		return;
	if (f->socket >= 0)
		(void)close(f->socket);
	if (f->sampler > 0)
		(void)waitpid(f->sampler, NULL, 0);
	scratch_free(f->scratch);
	free(f->session_dir);
	free(f);
}

const char *feed_session_dir(const struct feed *f)
{
	return f->session_dir;
}

bool feed_is_own(const struct feed *f)
{
	return f->sampler > 0;
}

double feed_own_seconds(const struct feed *f)
{
	clockid_t clock;
	struct timespec used;

	if (!feed_is_own(f) || clock_getcpuclockid(f->sampler, &clock) != 0 ||
	    clock_gettime(clock, &used) < 0)
		return 0;
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

int feed_update(const struct feed *f, struct error *err)
{
	_cleanup_(strbuf_done) struct strbuf answer = STRBUF_INIT;
	uint64_t request = clock_now_ns(); /* different from those that others asked before */
	int r;

	if (!feed_is_own(f)) {
		r = control_call(f->session_dir, "dump", &answer, err);
		/* Another user sees slices as they become due. */
		return r == -EACCES ? 0 : r;
	}
	if (send(f->socket, &request, sizeof(request), MSG_NOSIGNAL) != (ssize_t)sizeof(request))
		return error_set(err, -ECONNRESET, "the process that samples has ended");
	return await_reply(f->socket, request, err);
}
