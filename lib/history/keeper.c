/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history/keeper.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "helper/child.h"
#include "helper/niceness.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	LOWEST = 19,	     /* nice(2) */
	IDLE_DISK = 3 << 13, /* ioprio_set(2): when nobody else uses the disk */
	HEAP_MAX = 1 << 30,  /* hours of 2.2 million nodes take 300 MiB */
	TEXT_MAX = 16 << 10,
	LIMIT_MS = 4 * 3600 * 1000, /* it has a quarter of a CPU, see RUN_MS */
	RUN_MS = 25, /* of CPU time, then it rests: the unit's CPUQuota is for the daemon, too */
	REST_MS = 75,
	STARTS_MAX = 4, /* of the keeper, in an hour */
};

static const uint64_t STARTS_NS = 3600 * NS_PER_S;

/* After work that failed, before the next try. */
static const uint64_t RETRY_NS = 600 * NS_PER_S;

/* Of work, before it is trouble. */
static const uint64_t LONG_NS = 3600 * NS_PER_S;

static const char gone_text[] =
	"the process that keeps the history has exited; restart the daemon\n";

enum outcome { DONE, FAILED, NOTE /* of no request */ };

struct answer {
	uint32_t number; /* of the request */
	enum outcome outcome;
	char text[TEXT_MAX + 1];
};

struct request {
	uint32_t number;
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
	uint32_t number;	      /* of the last request */
	struct strbuf notes;	      /* what its user is to know with the next answer */
};

/* What the process that serves requests shares with the one that starts it again. */
struct shared {
	uint32_t begun, answered; /* requests */
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
	parallel_forbid();
	(void)syscall(SYS_ioprio_set, 1, 0, IDLE_DISK);
	if (!SANITIZED) /* its shadow memory would count */
		(void)setrlimit(RLIMIT_DATA, &heap);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
}

static void answer(int socket, uint32_t number, enum outcome outcome, const char *text)
{
	_cleanup_free_ struct answer *a = xcalloc(1, sizeof(*a));
	size_t length = strnlen(text, TEXT_MAX);

	a->number = number;
	a->outcome = outcome;
	memcpy(a->text, text, length);
	(void)send(socket, a, offsetof(struct answer, text) + length + 1, MSG_NOSIGNAL);
}

/* Serves one request. The session may be renamed meanwhile, and another one get its name. */
static _noreturn_ void serve(keeper_work *work, const struct request *request, int socket)
{
	struct strbuf log = STRBUF_INIT, text = STRBUF_INIT;
	int r = chdir(request->samples) < 0 ? -errno : work(".", &request->how, &log);

	if (r < 0)
		strbuf_addf(&text, "the upkeep of %s failed (%s)\n", request->samples,
			    strerror(-r));
	strbuf_add(&text, strbuf_text(&log), log.length);
	answer(socket, request->number, r < 0 ? FAILED : DONE, strbuf_text(&text));
	_exit(0);
}

/* CPU time of a process that was not waited for. */
static uint64_t cpu_ns(pid_t pid)
{
	struct timespec t = { 0 };
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) == 0)
		(void)clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Lets the process rest if it had its share of a CPU since @*last_ns. */
static void pace(pid_t pid, struct pollfd *fds, nfds_t count, uint64_t *last_ns)
{
	uint64_t now_ns = cpu_ns(pid);

	if (now_ns - *last_ns < RUN_MS * (NS_PER_S / 1000))
		return;
	*last_ns = now_ns;
	(void)kill(pid, SIGSTOP);
	(void)poll(fds, count, REST_MS);
	(void)kill(pid, SIGCONT);
}

/* Waits for the process that serves; kills it if it takes too long, or if nobody waits for its
 * answer any more. */
static int await(pid_t pid, int socket, int limit_ms)
{
	struct pollfd fds[] = { { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN },
				{ .fd = socket, .events = POLLRDHUP } };
	uint64_t end_ns = clock_now_ns() + (uint64_t)limit_ms * (NS_PER_S / 1000), last_ns = 0;
	int status = 0;

	while (fds[0].fd >= 0 && clock_now_ns() < end_ns && !fds[0].revents && !fds[1].revents) {
		(void)poll(fds, ARRAY_SIZE(fds), MIN(RUN_MS, limit_ms));
		if (!fds[0].revents && !fds[1].revents)
			pace(pid, fds, ARRAY_SIZE(fds), &last_ns);
	}
	if (fds[0].fd >= 0 && !fds[0].revents)
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
		(void)snprintf(text, size, "the roll-up failed (no process)\n");
	else if (WIFSIGNALED(status))
		(void)snprintf(text, size, "the roll-up failed (signal %d)\n", WTERMSIG(status));
	else
		(void)snprintf(text, size, "the roll-up failed (exit status %d)\n",
			       WEXITSTATUS(status));
}

/* Forks a process that ends with this one; returns 0 in it. */
static pid_t fork_bound(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

/* Serves each request in a process of its own, which takes its memory with it. */
static _noreturn_ void keep(keeper_work *work, int socket, struct shared *shared)
{
	struct request request;

	/* It is noted before it is taken: who is killed in between leaves it to the next one. */
	while (recv(socket, &request, sizeof(request), MSG_PEEK) == sizeof(request)) {
		char text[64];
		int status;
		pid_t pid;

		shared->begun = request.number;
		if (recv(socket, &request, sizeof(request), 0) != sizeof(request))
			break;
		pid = fork_bound();
		if (pid == 0)
			serve(work, &request, socket);
		status = pid < 0 ? -1 : await(pid, socket, request.limit_ms);
		if (status) {
			describe(status, text, sizeof(text));
			answer(socket, request.number, FAILED, text);
		}
		shared->answered = request.number;
	}
	_exit(0);
}

/* Says that the keeper was killed by signal @number, and that its work failed, if it had any. */
static void report_kill(int socket, const struct shared *shared, int number)
{
	bool has_work = shared->begun != shared->answered;
	char text[96];

	(void)snprintf(text, sizeof(text),
		       "the process that keeps the history was killed (signal %d); restarting it\n",
		       number);
	answer(socket, shared->begun, has_work ? FAILED : NOTE, text);
}

/* Starts the process that serves requests, and starts it again if it is killed, not too often. */
static _noreturn_ void watch(keeper_work *work, int socket)
{
	uint64_t starts_ns[STARTS_MAX] = { 0 };
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	size_t i;

	for (i = 0; shared != MAP_FAILED; i = (i + 1) % STARTS_MAX) {
		int status = 0;
		pid_t pid;

		if (starts_ns[i] && clock_now_ns() - starts_ns[i] < STARTS_NS)
			break;
		starts_ns[i] = clock_now_ns();
		pid = fork_bound();
		if (pid == 0)
			keep(work, socket, shared);
		while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (pid < 0 || !WIFSIGNALED(status))
			break;
		if (starts_ns[(i + 1) % STARTS_MAX] == 0 ||
		    clock_now_ns() - starts_ns[(i + 1) % STARTS_MAX] >= STARTS_NS)
			report_kill(socket, shared, WTERMSIG(status));
		shared->answered = shared->begun;
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
		watch(work, socket);
	}
	if (pid < 0)
		return error_errno(err, pid, "cannot start the process that keeps the history");
	*ret = xcalloc(1, sizeof(**ret));
	**ret = (struct keeper){
		.pid = pid, .socket = socket, .limit_ms = LIMIT_MS, .notes = STRBUF_INIT
	};
	return 0;
}

void keeper_free(struct keeper *k)
{
	if (!k)
		return;
	(void)close(k->socket);
	child_wait(k->pid);
	free(k->trouble);
	strbuf_done(&k->notes);
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
	request.number = ++k->number;
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

/* Receives the answer to the last request into @a; -EAGAIN if there is none yet, -EPIPE if there
 * will be none. */
static int receive(struct keeper *k, struct answer *a)
{
	for (;;) {
		ssize_t n = recv(k->socket, a, sizeof(*a), MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return -EAGAIN;
		if (n <= (ssize_t)offsetof(struct answer, text))
			return -EPIPE;
		((char *)a)[MIN((size_t)n, sizeof(*a)) - 1] = '\0';
		if (a->outcome == NOTE)
			strbuf_adds(&k->notes, a->text);
		else if (a->number == k->number)
			return 0;
	}
}

bool keeper_take(struct keeper *k, struct strbuf *text)
{
	_cleanup_free_ struct answer *a = k->is_busy ? xcalloc(1, sizeof(*a)) : NULL;
	int r = a ? receive(k, a) : -EAGAIN;

	if (r == -EAGAIN)
		return false;
	k->is_busy = false;
	k->failed_ns = 0;
	strbuf_adds(text, strbuf_text(&k->notes));
	strbuf_clear(&k->notes);
	if (r < 0) {
		k->is_gone = true;
		strbuf_adds(text, gone_text);
		return true;
	}
	strbuf_adds(text, a->text);
	if (a->outcome == FAILED)
		note_failure(k, a->text);
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
		strbuf_addf(out, "%s; retrying in some minutes", k->trouble);
	else if (busy_ns > LONG_NS)
		strbuf_addf(out, "it has not ended for %" PRIu64 " minutes",
			    busy_ns / (60 * NS_PER_S));
}
