/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/sandbox.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/procfs.h"
#include "base/internal/sandbox_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* Bytes of a lane's memory that are kept for the next request; the rest is freed. */
enum { ROOM_KEPT = 1 << 20 };

struct lane {
	int socket; /* to the worker; -1: there is none */
	pid_t pid;  /* of the worker, 0: there is none; under the sandbox's lock */
	struct sandbox_shared *shared;
};

struct sandbox {
	struct sandbox_config config;
	pthread_mutex_t lock; /* over the next two */
	int nursery;	      /* socket to the process that forks workers; -1: it has ended */
	uint64_t ended_ns;    /* CPU time of workers that have ended */
	pid_t pid;
	struct lane lanes[SANDBOX_LANES_MAX];
};

static size_t shared_size(const struct sandbox_config *config)
{
	return sizeof(struct sandbox_shared) + config->room;
}

static int map_lanes(struct sandbox *s)
{
	unsigned int i;

	for (i = 0; i < s->config.lanes; i++) {
		void *memory = mmap(NULL, shared_size(&s->config), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (memory == MAP_FAILED)
			return -errno;
		s->lanes[i].shared = memory;
	}
	return 0;
}

/* Forks the process that makes workers; it never returns there. */
static int start_nursery(struct sandbox *s)
{
	struct sandbox_shared *shared[SANDBOX_LANES_MAX];
	int ends[2];
	unsigned int i;

	for (i = 0; i < SANDBOX_LANES_MAX; i++)
		shared[i] = s->lanes[i].shared;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	s->pid = fork();
	if (s->pid == 0)
		sandbox_nurse(&s->config, ends[1], shared);
	(void)close(ends[1]);
	s->nursery = ends[0];
	return s->pid < 0 ? -errno : 0;
}

int sandbox_new(const struct sandbox_config *config, struct sandbox **ret, struct error *err)
{
	struct sandbox *s = xcalloc(1, sizeof(*s));
	unsigned int i;
	int r;

	s->config = *config;
	s->nursery = -1;
	(void)pthread_mutex_init(&s->lock, NULL);
	for (i = 0; i < SANDBOX_LANES_MAX; i++)
		s->lanes[i].socket = -1;
	r = map_lanes(s);
	if (r == 0)
		r = start_nursery(s);
	if (r < 0) {
		sandbox_free(s);
		return error_errno(err, r, "cannot create a sandbox");
	}
	*ret = s;
	return 0;
}

void sandbox_free(struct sandbox *s)
{
	unsigned int i;

	if (!s)
		return;
	for (i = 0; i < SANDBOX_LANES_MAX; i++) {
		cleanup_closep(&s->lanes[i].socket);
		if (s->lanes[i].shared)
			(void)munmap(s->lanes[i].shared, shared_size(&s->config));
	}
	/* When its socket closes, the nursery ends its workers and itself. */
	cleanup_closep(&s->nursery);
	if (s->pid > 0)
		(void)waitpid(s->pid, NULL, 0);
	(void)pthread_mutex_destroy(&s->lock);
	free(s);
}

/* CPU time of a process; also of a zombie. */
static uint64_t cpu_ns(pid_t pid)
{
	clockid_t clock;

	return pid > 0 && clock_getcpuclockid(pid, &clock) == 0 ? clock_ns(clock) : 0;
}

/* Private memory of a process. */
static uint64_t private_bytes(pid_t pid)
{
	uint64_t resident, shared;

	if (pid <= 0 || procfs_memory(NULL, (uint32_t)pid, &resident, &shared) < 0 ||
	    resident < shared)
		return 0;
	return resident - shared;
}

/* The sum of @of over all running processes. Call with the lock held. */
static uint64_t sum(const struct sandbox *s, uint64_t (*of)(pid_t pid))
{
	uint64_t all = of(s->pid);
	unsigned int i;

	for (i = 0; i < s->config.lanes; i++)
		all += of(s->lanes[i].pid);
	return all;
}

uint64_t sandbox_cpu(struct sandbox *s)
{
	uint64_t ns;

	(void)pthread_mutex_lock(&s->lock);
	ns = s->ended_ns + sum(s, cpu_ns);
	(void)pthread_mutex_unlock(&s->lock);
	return ns;
}

uint64_t sandbox_memory(struct sandbox *s)
{
	uint64_t bytes;

	(void)pthread_mutex_lock(&s->lock);
	bytes = sum(s, private_bytes);
	(void)pthread_mutex_unlock(&s->lock);
	return bytes;
}

/* Has the nursery end the lane's worker, if there is one, and start another if @worker, its end of
 * a socket, is not -1; *@ret_status: how the old one ended. 0 or -errno. */
static int ask_nursery(struct sandbox *s, unsigned int lane, int worker, int *ret_status)
{
	struct sandbox_order order = { .lane = lane };
	struct sandbox_outcome outcome = { 0 };
	ssize_t n = -1;

	(void)pthread_mutex_lock(&s->lock);
	s->ended_ns += cpu_ns(s->lanes[lane].pid);
	if (s->nursery >= 0 && sandbox_send(s->nursery, &order, sizeof(order), worker) == 0)
		n = recv(s->nursery, &outcome, sizeof(outcome), 0);
	if (n != sizeof(outcome))
		cleanup_closep(&s->nursery), s->nursery = -1;
	s->lanes[lane].pid = MAX(outcome.code, 0);
	(void)pthread_mutex_unlock(&s->lock);
	*ret_status = outcome.status;
	return n == sizeof(outcome) ? outcome.code : -ECHILD;
}

static int start_worker(struct sandbox *s, unsigned int lane, struct error *err)
{
	struct lane *l = &s->lanes[lane];
	int ends[2], status, r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_errno(err, -errno, "cannot create a socket");
	r = ask_nursery(s, lane, ends[1], &status);
	(void)close(ends[1]);
	if (r < 0) {
		(void)close(ends[0]);
		return error_set(err, -ECHILD, "cannot start a process to read it: %s",
				 strerror(-r));
	}
	l->socket = ends[0];
	return 0;
}

/* Ends a worker that failed, and reports how it failed. */
static int end_worker(struct sandbox *s, unsigned int lane, int code, struct error *err)
{
	struct lane *l = &s->lanes[lane];
	int status = 0;

	cleanup_closep(&l->socket);
	l->socket = -1;
	(void)ask_nursery(s, lane, -1, &status);
	if (code == -ETIME)
		return error_set(err, code, "took more than %d s to read",
				 s->config.time_ms / 1000);
	if (WIFSIGNALED(status))
		return error_set(err, code, "the process that read it was killed by SIG%s",
				 sigabbrev_np(WTERMSIG(status)) ?: "?");
	return error_set(err, code, "the process that read it exited unexpectedly");
}

/* Whether the process is running or waiting for a CPU. */
static bool is_runnable(pid_t pid)
{
	struct procfs_stat st;

	return procfs_stat("", (uint32_t)pid, &st) == 0 && st.state == 'R';
}

/* Waits for the answer; 0 or -errno. The limit is CPU time, so that a loaded machine does not make
 * a worker late; one that sleeps is late when that much time has passed. */
static int await(const struct sandbox *s, const struct lane *l, struct sandbox_done *done)
{
	const uint64_t end_ns = cpu_ns(l->pid) + (uint64_t)s->config.time_ms * 1000000;
	struct pollfd p = { .fd = l->socket, .events = POLLIN };
	int r;

	do
		r = poll(&p, 1, s->config.time_ms);
	while ((r < 0 && errno == EINTR) ||
	       (r == 0 && cpu_ns(l->pid) < end_ns && is_runnable(l->pid)));
	if (r == 0)
		return -ETIME;
	return recv(l->socket, done, sizeof(*done), MSG_DONTWAIT) == sizeof(*done) ? 0 : -EPIPE;
}

/* Copies the name of a refused call; the worker may change it at any time, so it is terminated
 * here. */
static void take_refused(struct lane *l, char refused[64])
{
	memcpy(refused, l->shared->refused, 63);
	refused[63] = '\0';
	memset(l->shared->refused, 0, sizeof(l->shared->refused));
}

/* Sends a request; a worker that died while idle is replaced first. */
static int send_request(struct sandbox *s, unsigned int lane, const void *request, size_t size,
			int fd, struct error *err)
{
	struct lane *l = &s->lanes[lane];
	int r = l->socket < 0 ? -EPIPE : sandbox_send(l->socket, request, size, fd), status;

	if (r == 0)
		return 0;
	if (l->socket >= 0) {
		(void)close(l->socket);
		l->socket = -1;
		(void)ask_nursery(s, lane, -1, &status);
	}
	r = start_worker(s, lane, err);
	if (r < 0)
		return r;
	r = sandbox_send(l->socket, request, size, fd);
	return r < 0 ? end_worker(s, lane, -EPIPE, err) : 0;
}

void sandbox_drop(struct sandbox *s, unsigned int lane)
{
	struct lane *l = &s->lanes[lane];

	if (s->config.room > ROOM_KEPT && l->shared->used > ROOM_KEPT)
		(void)madvise((char *)l->shared + ROOM_KEPT, shared_size(&s->config) - ROOM_KEPT,
			      MADV_REMOVE);
	l->shared->used = 0;
}

int sandbox_call(struct sandbox *s, unsigned int lane, const void *request, size_t size, int fd,
		 struct sandbox_reply *ret, struct error *err)
{
	struct lane *l = &s->lanes[lane];
	struct sandbox_done done;
	int r;

	sandbox_drop(s, lane);
	r = send_request(s, lane, request, size, fd, err);
	if (r < 0)
		return r;
	r = await(s, l, &done);
	if (r < 0)
		return end_worker(s, lane, r == -ETIME ? r : -EPIPE, err);
	if (done.size > s->config.room || done.code > 0)
		return end_worker(s, lane, -EPIPE, err);
	l->shared->used = done.size;
	*ret = (struct sandbox_reply){ .memory = l->shared->memory,
				       .room = s->config.room,
				       .size = done.size,
				       .code = done.code };
	if (*l->shared->refused)
		take_refused(l, ret->refused);
	return 0;
}
