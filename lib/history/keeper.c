/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/keeper.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/niceness.h"
#include "base/path.h"
#include "base/strbuf.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	LOWEST = 19,	      /* nice(2) */
	IDLE_DISK = 3 << 13,  /* ioprio_set(2): when nobody else uses the disk */
	HEAP_MAX = 512 << 20, /* a day of 64 CPUs takes some 150 MiB */
	TEXT_MAX = 16 << 10,
	LIMIT_MS = 3600 * 1000,
};

/* After work that failed, before the next try. */
static const uint64_t RETRY_NS = 600 * NS_PER_S;

/* Of work, before it is trouble. */
static const uint64_t LONG_NS = 900 * NS_PER_S;

static const char gone_text[] = "the keeper of the history has ended: start the daemon again\n";

/* What an answer begins with. */
static const char done_mark = '+', failed_mark = '-';

struct request {
	struct upkeep how;
	int limit_ms;
	char samples[PATH_MAX];
};

struct keeper {
	pid_t pid;
	int socket;
	int limit_ms; /* of the work; it is killed then */
	bool is_busy, is_gone;
	uint64_t asked_ns, failed_ns; /* ->failed_ns is 0 unless the last work failed */
	char *trouble;		      /* why it failed */
};

/* --- in the process --- */

static void renounce(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };
	const struct rlimit heap = { HEAP_MAX, HEAP_MAX }, no_core = { 0, 0 };
	struct rlimit files;

	(void)syscall(SYS_capset, &head, none);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)setrlimit(RLIMIT_CORE, &no_core);
	(void)niceness_set(LOWEST);
	niceness_set_session(LOWEST);
	(void)syscall(SYS_ioprio_set, 1, 0, IDLE_DISK);
	if (!SANITIZED) /* its shadow memory would count */
		(void)setrlimit(RLIMIT_DATA, &heap);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
}

/* Serves one request. The session may be renamed meanwhile, and another one get its name. */
static _noreturn_ void serve(keeper_work *work, const struct request *request, int socket)
{
	struct strbuf log = STRBUF_INIT, answer = STRBUF_INIT;
	int r = chdir(request->samples) < 0 ? -errno : work(".", &request->how, &log);

	strbuf_add(&answer, r < 0 ? &failed_mark : &done_mark, 1);
	if (r < 0)
		strbuf_addf(&answer, "the upkeep of %s failed (%s)\n", request->samples,
			    strerror(-r));
	strbuf_add(&answer, strbuf_text(&log), log.length);
	strbuf_cut(&answer, MIN(answer.length, (size_t)TEXT_MAX));
	(void)send(socket, strbuf_text(&answer), answer.length + 1, MSG_NOSIGNAL);
	_exit(0);
}

/* Waits for the process that serves; kills it if it takes too long, or if nobody waits for its
 * answer any more. */
static int await(pid_t pid, int socket, int limit_ms)
{
	struct pollfd fds[] = { { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN },
				{ .fd = socket, .events = POLLRDHUP } };
	int status = 0, ready = 1;

	while (fds[0].fd >= 0 && (ready = poll(fds, ARRAY_SIZE(fds), limit_ms)) < 0 &&
	       errno == EINTR)
		;
	if (ready == 0 || fds[1].revents)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (fds[0].fd >= 0)
		(void)close(fds[0].fd);
	return status;
}

/* Says why the process that serves failed; -1: there was none. */
static void describe(int status, char *text, size_t size)
{
	if (status == -1)
		(void)snprintf(text, size, "%cthe roll-up failed (no process)\n", failed_mark);
	else if (WIFSIGNALED(status))
		(void)snprintf(text, size, "%cthe roll-up failed (signal %d)\n", failed_mark,
			       WTERMSIG(status));
	else
		(void)snprintf(text, size, "%cthe roll-up failed (exit status %d)\n", failed_mark,
			       WEXITSTATUS(status));
}

/* Serves each request in a process of its own, which takes its memory with it. */
static _noreturn_ void keep(keeper_work *work, int socket)
{
	struct request request;

	while (recv(socket, &request, sizeof(request), 0) == sizeof(request)) {
		pid_t parent = getpid(), pid = fork();
		char text[64];
		int status;

		if (pid == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
			if (getppid() == parent)
				serve(work, &request, socket);
			_exit(1);
		}
		status = pid < 0 ? -1 : await(pid, socket, request.limit_ms);
		if (!status)
			continue;
		describe(status, text, sizeof(text));
		(void)send(socket, text, strlen(text) + 1, MSG_NOSIGNAL);
	}
	_exit(0);
}

/* --- its user --- */

int keeper_new(keeper_work *work, struct keeper **ret, struct error *err)
{
	int socket;
	pid_t pid = child_start("oprofile-keeper", &socket);

	if (pid == 0) {
		renounce();
		keep(work, socket);
	}
	if (pid < 0)
		return error_errno(err, pid, "cannot start the keeper of the history");
	*ret = xcalloc(1, sizeof(**ret));
	**ret = (struct keeper){ .pid = pid, .socket = socket, .limit_ms = LIMIT_MS };
	return 0;
}

void keeper_free(struct keeper *k)
{
	if (!k)
		return;
	(void)close(k->socket);
	child_wait(k->pid);
	free(k->trouble);
	free(k);
}

void keeper_limit(struct keeper *k, int limit_ms)
{
	k->limit_ms = limit_ms;
}

bool keeper_ask(struct keeper *k, const char *samples, const struct upkeep *how)
{
	struct request request = { .how = *how, .limit_ms = k->limit_ms };
	_cleanup_free_ char *path = path_absolute(samples);

	if (k->is_busy || strlen(path) >= sizeof(request.samples))
		return false;
	memcpy(request.samples, path, strlen(path) + 1);
	k->is_busy = send(k->socket, &request, sizeof(request), MSG_NOSIGNAL | MSG_DONTWAIT) ==
		     sizeof(request);
	k->asked_ns = clock_now_ns();
	return k->is_busy;
}

bool keeper_is_busy(const struct keeper *k)
{
	return k->is_busy;
}

bool keeper_is_gone(const struct keeper *k)
{
	return k->is_gone;
}

/* Remembers why the work failed: the line @text. */
static void note_failure(struct keeper *k, const char *text)
{
	k->failed_ns = clock_now_ns();
	free(k->trouble);
	k->trouble = xstrndup(text, strcspn(text, "\n"));
}

bool keeper_take(struct keeper *k, struct strbuf *text)
{
	char bytes[TEXT_MAX + 1];
	ssize_t n = k->is_busy ? recv(k->socket, bytes, sizeof(bytes), MSG_DONTWAIT) : -1;

	if (!k->is_busy || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return false;
	k->is_busy = false;
	k->failed_ns = 0;
	if (n > 0) {
		strbuf_add(text, bytes + 1, (size_t)n - 2);
		if (*bytes == failed_mark)
			note_failure(k, strbuf_text(text));
		return true;
	}
	k->is_gone = true;
	strbuf_adds(text, gone_text);
	return true;
}

bool keeper_retries(const struct keeper *k)
{
	return k->failed_ns && clock_now_ns() - k->failed_ns > RETRY_NS;
}

void keeper_trouble(const struct keeper *k, struct strbuf *out)
{
	uint64_t busy_ns = k->is_busy ? clock_now_ns() - k->asked_ns : 0;

	if (k->is_gone)
		strbuf_add(out, gone_text, strlen(gone_text) - 1);
	else if (k->failed_ns)
		strbuf_addf(out, "%s; it is tried again after some minutes", k->trouble);
	else if (busy_ns > LONG_NS)
		strbuf_addf(out, "it has not ended for %" PRIu64 " minutes",
			    busy_ns / (60 * NS_PER_S));
}
