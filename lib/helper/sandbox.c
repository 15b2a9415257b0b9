/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/sandbox.h"

#include "base/clock.h"
#include "base/mem.h"
#include "file/procfs.h"
#include "helper/child.h"
#include "helper/internal/sandbox_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* Bytes of a lane's memory that are kept for the next request; the rest is freed. */
enum { ROOM_KEPT = 1 << 20 };
/* CPU time in a period that shows that a request moves on. */
enum { MOVED_NS = 1000000 };

struct lane {
	int socket; /* to the worker; -1: there is none */
	pid_t pid;  /* of the worker, 0: there is none; under the sandbox's lock */
	struct sandbox_shared *shared;
};

struct sandbox {
	struct sandbox_config config;
	pthread_mutex_t lock;	/* over the next two */
	int nursery;		/* socket to the process that forks workers; -1: it has ended */
	uint64_t ended_ns;	/* CPU time of workers that have ended */
	uint64_t cpu_ns, bytes; /* in use, when it was looked at last; atomic */
	pid_t pid;
	int stop;		   /* readable once requests are to fail; -1: never */
	bool is_front_process;	   /* this is the worker of a sandbox that has this one as ->back */
	unsigned int adopted_lane; /* then: the only one that it can use */
	struct sandbox *front;	   /* the one that has this one as ->back, or NULL */
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
	unsigned int i;

	for (i = 0; i < SANDBOX_LANES_MAX; i++)
		shared[i] = s->lanes[i].shared;
	s->pid = s->config.soon ? child_start_inside(s->config.name, &s->nursery)
				: child_start(s->config.name, &s->nursery);
	if (s->pid == 0)
		sandbox_nurse(&s->config, shared);
	return MIN(s->pid, 0);
}

/* In a worker: what it asks the sandbox at its back goes over @socket. */
static void adopt(const struct sandbox_config *config, unsigned int lane, int socket)
{
	struct sandbox *back = config->back;

	back->is_front_process = true;
	back->stop = back->nursery = -1; /* were closed */
	back->adopted_lane = config->back_lane + lane;
	back->lanes[back->adopted_lane].socket = socket;
}

int sandbox_new(const struct sandbox_config *config, struct sandbox **ret, struct error *err)
{
	struct sandbox *s = xcalloc(1, sizeof(*s));
	unsigned int i;
	int r;

	s->config = *config;
	s->config.adopt = adopt;
	s->nursery = -1;
	s->stop = eventfd(0, EFD_CLOEXEC);
	(void)pthread_mutex_init(&s->lock, NULL);
	for (i = 0; i < SANDBOX_LANES_MAX; i++)
		s->lanes[i].socket = -1;
	r = s->stop < 0 ? -errno : map_lanes(s);
	if (r == 0)
		r = start_nursery(s);
	if (r < 0) {
		sandbox_free(s);
		return error_errno(err, r, "cannot create a sandbox");
	}
	if (config->back)
		config->back->front = s;
	*ret = s;
	return 0;
}

void sandbox_free(struct sandbox *s)
{
	unsigned int i;

	if (!s)
		return;
	if (s->config.back)
		s->config.back->front = NULL;
	for (i = 0; i < SANDBOX_LANES_MAX; i++) {
		cleanup_closep(&s->lanes[i].socket);
		if (s->lanes[i].shared)
			(void)munmap(s->lanes[i].shared, shared_size(&s->config));
	}
	/* When its socket closes, the nursery ends its workers and itself. */
	cleanup_closep(&s->nursery);
	cleanup_closep(&s->stop);
	if (s->pid > 0)
		child_wait(s->pid);
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

/* Both return what was known last while the lock is held for a nursery that forks: whoever asks may
 * have samples to drain. */
uint64_t sandbox_cpu(struct sandbox *s)
{
	if (pthread_mutex_trylock(&s->lock) == 0) {
		__atomic_store_n(&s->cpu_ns, s->ended_ns + sum(s, cpu_ns), __ATOMIC_RELAXED);
		(void)pthread_mutex_unlock(&s->lock);
	}
	return __atomic_load_n(&s->cpu_ns, __ATOMIC_RELAXED) +
	       (s->front ? sandbox_cpu(s->front) : 0);
}

uint64_t sandbox_memory(struct sandbox *s)
{
	if (pthread_mutex_trylock(&s->lock) == 0) {
		__atomic_store_n(&s->bytes, sum(s, private_bytes), __ATOMIC_RELAXED);
		(void)pthread_mutex_unlock(&s->lock);
	}
	return __atomic_load_n(&s->bytes, __ATOMIC_RELAXED) +
	       (s->front ? sandbox_memory(s->front) : 0);
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

/* Starts the worker of a lane; the socket to it, or -errno. */
static int start_one(struct sandbox *s, unsigned int lane)
{
	int ends[2], status, r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	r = ask_nursery(s, lane, ends[1], &status);
	(void)close(ends[1]);
	if (r < 0)
		(void)close(ends[0]);
	return r < 0 ? r : ends[0];
}

/* Starts a worker and, if the sandbox has another one at its back, the worker there, to which the
 * first one gets the connection. */
static int start_worker(struct sandbox *s, unsigned int lane, struct error *err)
{
	int r = start_one(s, lane);
	_cleanup_close_ int front = r, back = -1;

	if (r >= 0 && s->config.back) {
		r = back = start_one(s->config.back, s->config.back_lane + lane);
		if (r >= 0)
			r = sandbox_send(front, "", 1, back);
	}
	if (r < 0)
		return error_set(err, -ECHILD, "cannot start a process to read it: %s",
				 strerror(-r));
	s->lanes[lane].socket = STEAL_FD(front);
	return 0;
}

/* Ends the worker of a lane and the one at its back; returns how it ended, or if it did so by
 * itself, how that one ended. */
static int end_pair(struct sandbox *s, unsigned int lane)
{
	struct lane *l = &s->lanes[lane];
	int status = 0, back = 0;

	if (l->socket >= 0)
		(void)close(l->socket);
	l->socket = -1;
	(void)ask_nursery(s, lane, -1, &status);
	if (s->config.back)
		(void)ask_nursery(s->config.back, s->config.back_lane + lane, -1, &back);
	if (WIFSIGNALED(status))
		return status;
	return WIFSIGNALED(back) || (WIFEXITED(back) && WEXITSTATUS(back) == MEM_EXHAUSTED)
		       ? back
		       : status;
}

/* Ends a worker that failed, and reports how it failed. */
static int end_worker(struct sandbox *s, unsigned int lane, int code, struct error *err)
{
	int status;

	/* The sandbox of which this is a worker ends both. */
	if (s->is_front_process)
		_exit(1);
	status = end_pair(s, lane);
	if (code == -ETIME)
		return error_set(err, code, "took more than %d s to read",
				 s->config.time_ms / 1000);
	if (WIFSIGNALED(status))
		return error_set(err, code, "the process that read it was killed by SIG%s",
				 sigabbrev_np(WTERMSIG(status)) ?: "?");
	if (WIFEXITED(status) && WEXITSTATUS(status) == MEM_EXHAUSTED) {
		/* It tried to say so. */
		memset(s->lanes[lane].shared->refused, 0, sizeof(s->lanes[lane].shared->refused));
		return error_set(err, code, "takes too much memory to read");
	}
	return error_set(err, code, "the process that read it exited unexpectedly");
}

/* Whether the process is running or waiting for a CPU. */
static bool is_runnable(pid_t pid)
{
	struct procfs_stat st;

	return procfs_stat("", (uint32_t)pid, &st) == 0 && st.state == 'R';
}

/* The worker that a request keeps busy, and the one at its back. */
struct pair {
	pid_t pids[2]; /* 0: there is none */
};

static struct pair pair_of(const struct sandbox *s, unsigned int lane)
{
	const struct sandbox *back = s->config.back;

	return (struct pair){ { s->lanes[lane].pid,
				back ? back->lanes[s->config.back_lane + lane].pid : 0 } };
}

static uint64_t pair_cpu_ns(const struct pair *p)
{
	return cpu_ns(p->pids[0]) + cpu_ns(p->pids[1]);
}

/* Limits of a request. */
struct limits {
	uint64_t asleep_until_ns, cpu_until_ns;
};

/* The CPU time that a request may take. */
static uint64_t request_ns(const struct sandbox *s)
{
	int ms = s->config.back ? s->config.back->config.time_ms : s->config.time_ms;

	return (uint64_t)ms * 1000000;
}

static struct limits limits_of(const struct sandbox *s, const struct pair *p)
{
	return (struct limits){ clock_now_ns() + request_ns(s), pair_cpu_ns(p) + request_ns(s) };
}

/* Whether the lane's worker might not have enough left of its CPU time, which is limited in all,
 * or of that for which it is preferred, for one more request. */
static bool is_used_up(const struct sandbox *s, unsigned int lane)
{
	const struct pair p = pair_of(s, lane);
	const bool is_soon =
		s->config.soon & 1U << lane && getpriority(PRIO_PROCESS, (id_t)s->pid) < 0;
	const uint64_t most_ns = is_soon ? (uint64_t)SANDBOX_SOON_USED_MS * 1000000 : request_ns(s);

	return !s->is_front_process && pair_cpu_ns(&p) >= most_ns;
}

/* Whether a request that has taken a period more is still being worked on: one of the processes is
 * running or waits for a CPU, or, with another one at its back, has at least moved since. */
static bool is_worked_on(const struct sandbox *s, const struct pair *p, const struct limits *limits,
			 uint64_t *cpu)
{
	uint64_t before_ns = *cpu;

	*cpu = pair_cpu_ns(p);
	if (*cpu >= limits->cpu_until_ns)
		return false;
	return is_runnable(p->pids[0]) || is_runnable(p->pids[1]) ||
	       (s->config.back && *cpu > before_ns + MOVED_NS &&
		clock_now_ns() < limits->asleep_until_ns);
}

/* Waits for the answer; 0 with a descriptor or -1 in *@ret_fd, or -errno. The limit is CPU time, so
 * that a loaded machine does not make a worker late; one that sleeps is late when that much time
 * has passed. */
static int await(const struct sandbox *s, unsigned int lane, struct sandbox_done *done, int *ret_fd)
{
	struct pollfd p[] = { { .fd = s->lanes[lane].socket, .events = POLLIN },
			      { .fd = s->stop, .events = POLLIN } };
	const struct pair pair = pair_of(s, lane);
	const struct limits limits = limits_of(s, &pair);
	uint64_t cpu = pair_cpu_ns(&pair);
	ssize_t n;
	int r;

	*ret_fd = -1;
	do
		r = poll(p, ARRAY_SIZE(p), s->is_front_process ? -1 : s->config.time_ms);
	while ((r < 0 && errno == EINTR) || (r == 0 && is_worked_on(s, &pair, &limits, &cpu)));
	if (p[1].revents)
		return -ECANCELED;
	if (r == 0)
		return -ETIME;
	n = s->config.opens ? sandbox_receive(p[0].fd, done, sizeof(*done), ret_fd)
			    : recv(p[0].fd, done, sizeof(*done), MSG_DONTWAIT);
	return n == sizeof(*done) ? 0 : -EPIPE;
}

void sandbox_stop(struct sandbox *s)
{
	(void)eventfd_write(s->stop, 1);
}

/* Copies the name of a refused call; the worker may change it at any time, so it is terminated
 * here. */
static void take_refused(struct lane *l, char refused[64])
{
	memcpy(refused, l->shared->refused, 63);
	refused[63] = '\0';
	memset(l->shared->refused, 0, sizeof(l->shared->refused));
}

/* Sends a request; a worker that died while idle, or is used up, is replaced first. */
static int send_request(struct sandbox *s, unsigned int lane, const void *request, size_t size,
			int fd, struct error *err)
{
	const struct lane *l = &s->lanes[lane];
	int r = -EPIPE;

	if (l->socket >= 0 && !is_used_up(s, lane))
		r = sandbox_send(l->socket, request, size, fd);
	if (r == 0)
		return 0;
	if (s->is_front_process)
		_exit(1);
	(void)end_pair(s, lane);
	r = start_worker(s, lane, err);
	if (r < 0)
		return r;
	r = sandbox_send(l->socket, request, size, fd);
	return r < 0 ? end_worker(s, lane, -EPIPE, err) : 0;
}

unsigned int sandbox_adopted_lane(const struct sandbox *s)
{
	return s->adopted_lane;
}

void *sandbox_left(struct sandbox *s, unsigned int lane, size_t *size)
{
	*size = MIN(*size, s->config.room);
	return s->lanes[lane].shared->memory;
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
	_cleanup_close_ int back = -1;
	struct sandbox_done done;
	int r;

	sandbox_drop(s, lane);
	r = send_request(s, lane, request, size, fd, err);
	if (r < 0)
		return r;
	r = await(s, lane, &done, &back);
	if (r < 0)
		return end_worker(s, lane, r, err);
	if (done.size > s->config.room || done.code > 0)
		return end_worker(s, lane, -EPIPE, err);
	l->shared->used = done.size;
	*ret = (struct sandbox_reply){ .memory = l->shared->memory,
				       .room = s->config.room,
				       .size = done.size,
				       .code = done.code,
				       .fd = STEAL_FD(back) };
	if (*l->shared->refused)
		take_refused(l, ret->refused);
	return 0;
}
