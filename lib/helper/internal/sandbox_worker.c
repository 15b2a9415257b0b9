/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/internal/sandbox_worker.h"

#include "helper/niceness.h"
#include "helper/seccomp_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* Limit for a worker's heap: the unwind table of a program with a million rows takes 6 MiB, the
 * largest record of JIT code 40. */
enum { HEAP_MAX = 128 << 20, FILES_MAX = 16 };

/* How long a killed worker is waited for; how many that did not die may exist, with room for one of
 * each lane at the end. */
enum { DEATH_MS = 20, ABANDONED_MAX = 24 };

/* What a computation needs and no more: no path can be opened. */
static const struct seccomp_confine_call worker_calls[] = {
	{ "read" },
	{ "pread64" },
	{ "lseek" },
	{ "close" },
	{ "dup" },
	{ "fcntl", SECCOMP_CONFINE_IS(1, F_GETFD) },
	{ "fcntl", SECCOMP_CONFINE_IS(1, F_GETFL) },
	{ "fstat" },
	{ "brk" },
	/* RLIMIT_DATA limits private memory only. */
	{ "mmap", SECCOMP_CONFINE_WITHOUT(2, PROT_EXEC),
	  SECCOMP_CONFINE_MASKED(3, MAP_TYPE, MAP_PRIVATE) },
	{ "mprotect", SECCOMP_CONFINE_WITHOUT(2, PROT_EXEC) },
	{ "mremap" },
	{ "munmap" },
	{ "madvise" },
	{ "futex" },
	{ "poll" },
	{ "ppoll" },
	{ "recvmsg" },
	{ "sendmsg" },
	{ "clock_gettime" },
	{ "sysinfo" }, /* qsort() of glibc */
	{ "rt_sigreturn" },
	/* Become an ordinary process: itself, nobody else. */
	{ "getpriority" },
	{ "setpriority", SECCOMP_CONFINE_IS(0, PRIO_PROCESS), SECCOMP_CONFINE_IS(1, 0) },
	{ "setsid" },
	{ "exit_group" },
#if SANITIZED
	{ "rt_sigprocmask" },
	{ "sigaltstack" },
	{ "gettid" },
	{ "getpid" },
	{ "write" },
	{ "sched_yield" },
#endif
};

/* What opening the files of others and asking another worker about them takes. */
static const struct seccomp_confine_call opener_calls[] = {
	{ "open" },
	{ "openat" },
	{ "openat2" },
	{ "open_by_handle_at" },
	{ "readlink" },
	{ "readlinkat" },
	{ "stat" },
	{ "newfstatat" },
	{ "statx" },
	{ "fstatfs" },
	{ "ioctl", SECCOMP_CONFINE_IS(1, FS_IOC_GETVERSION) },
	{ "recvfrom" },
	{ "getpid" },
	{ "clock_getres" }, /* for the clock of another process */
};

/* What else looking around takes. */
static const struct seccomp_confine_call browser_calls[] = {
	{ "access" },
	{ "faccessat" },
	{ "faccessat2" },
	{ "getdents64" },
};

/* A worker that was taken over could use the CPU for ever between two requests. So its time is
 * limited in all: to what sandbox.c lets it use before it is replaced, and one more request, which
 * takes up to two periods. */
enum { LIFE_PERIODS = 3 };

static struct sandbox_shared *own; /* of this worker */

/* Notes the refused call for the answer; the worker goes on. */
static void on_refused(const char *name, int number _unused_)
{
	(void)strncpy(own->refused, name, sizeof(own->refused) - 1);
}

int sandbox_send(int socket, const void *bytes, size_t size, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec io = { .iov_base = (void *)bytes, .iov_len = size };
	struct msghdr message = { .msg_iov = &io, .msg_iovlen = 1 };
	struct cmsghdr *head;
	ssize_t n;

	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), &fd, sizeof(int));
	}
	do
		n = sendmsg(socket, &message, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

ssize_t sandbox_receive(int socket, void *bytes, size_t room, int *ret_fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec io = { .iov_base = bytes, .iov_len = room };
	struct msghdr message = { .msg_iov = &io,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  /* Padding would have room for a second one. */
				  .msg_controllen = CMSG_LEN(sizeof(int)) };
	const struct cmsghdr *head;
	ssize_t n;

	*ret_fd = -1;
	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(head), sizeof(int));
	return n;
}

/* The same for the next message. Waits for it in poll(), which a profile of time off the CPU counts
 * as idle, unlike recvmsg(). */
static ssize_t receive_next(int socket, void *bytes, size_t room, int *ret_fd)
{
	struct pollfd p = { .fd = socket, .events = POLLIN };

	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	return sandbox_receive(socket, bytes, room, ret_fd);
}

static void limit(int resource, rlim_t most)
{
	const struct rlimit both = { most, most };

	(void)setrlimit(resource, &both);
}

/* Keeps the capabilities to read files and processes of others, or none. */
static void keep_capabilities(bool opens)
{
	static const int reading[] = { CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE,
				       CAP_CHECKPOINT_RESTORE };
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct have[2] = { 0 }, keep[2] = { 0 };
	size_t i;

	(void)syscall(SYS_capget, &head, have);
	for (i = 0; i < ARRAY_SIZE(reading) && opens; i++) {
		unsigned int word = CAP_TO_INDEX(reading[i]);

		keep[word].permitted |= have[word].permitted & CAP_TO_MASK(reading[i]);
		keep[word].effective = keep[word].permitted;
	}
	(void)syscall(SYS_capset, &head, keep);
}

/* Gives up all rights and resources that can be given up without a list of system calls. */
static void renounce(bool opens)
{
	keep_capabilities(opens);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_NOFILE, FILES_MAX);
	if (!SANITIZED) /* its shadow memory would count */
		limit(RLIMIT_DATA, HEAP_MAX);
}

/* Allows this worker the system calls that it needs, and no others. */
static void confine(const struct sandbox_config *config)
{
	struct seccomp_confine_call calls[ARRAY_SIZE(worker_calls) + ARRAY_SIZE(opener_calls) +
					  ARRAY_SIZE(browser_calls)];
	size_t count = ARRAY_SIZE(worker_calls);

	memcpy(calls, worker_calls, sizeof(worker_calls));
	if (config->opens || config->browses) {
		memcpy(calls + count, opener_calls, sizeof(opener_calls));
		count += ARRAY_SIZE(opener_calls);
	}
	if (config->browses) {
		memcpy(calls + count, browser_calls, sizeof(browser_calls));
		count += ARRAY_SIZE(browser_calls);
	}
	if (seccomp_confine_can() &&
	    seccomp_confine_enter(calls, count, on_refused, NULL, NULL) < 0)
		_exit(1);
}

/* Makes this worker an ordinary process, in a session of its own: a session shares CPU time
 * (CONFIG_SCHED_AUTOGROUP). Also a signal handler. */
static void become_ordinary(int number _unused_)
{
	int saved = errno;

	niceness_reset();
	(void)setsid();
	errno = saved;
}

/* Prefers this worker for a while, or, in a lane that is not in a hurry, no longer. */
static void prefer(const struct sandbox_config *config, unsigned int lane)
{
	const struct itimerval end = { .it_value.tv_usec = SANDBOX_SOON_MS * 1000 };
	struct sigaction action = { .sa_handler = become_ordinary, .sa_flags = SA_RESTART };

	if (!config->soon)
		return;
	(void)sigemptyset(&action.sa_mask);
	if (!(config->soon & 1U << lane) || sigaction(SIGPROF, &action, NULL) < 0 ||
	    setitimer(ITIMER_PROF, &end, NULL) < 0)
		become_ordinary(0);
	else if (getpriority(PRIO_PROCESS, 0) < 0)
		(void)niceness_soon(); /* with the slices of time */
}

/* Serves requests over @socket until it is closed. */
static _noreturn_ void work(const struct sandbox_config *config, unsigned int lane, int socket,
			    struct sandbox_shared *shared)
{
	static _Alignas(16) char request[SANDBOX_REQUEST_MAX];
	ssize_t n;
	int fd, r;

	own = shared;
	prefer(config, lane);
	/* One that may open files does not use much itself. */
	if (!config->opens || config->soon & 1U << lane)
		limit(RLIMIT_CPU, (rlim_t)(config->time_ms * LIFE_PERIODS + 999) / 1000);
	confine(config);
	/* First comes the connection to the worker at the back. */
	if (config->back && sandbox_receive(socket, request, 1, &fd) == 1)
		config->adopt(config, lane, fd);
	while ((n = receive_next(socket, request, sizeof(request), &fd)) > 0) {
		struct sandbox_reply reply = { .memory = shared->memory,
					       .room = config->room,
					       .data = config->data,
					       .fd = -1 };
		struct sandbox_done done;

		config->serve(request, (size_t)n, fd, &reply);
		cleanup_closep(&fd);
		done = (struct sandbox_done){ .size = reply.size, .code = reply.code };
		r = sandbox_send(socket, &done, sizeof(done), reply.fd);
		cleanup_closep(&reply.fd);
		if (r < 0)
			break;
	}
	_exit(0);
}

/* Starts a worker for @lane; its pid or -errno. */
static pid_t start(const struct sandbox_config *config, unsigned int lane, int socket,
		   struct sandbox_shared *shared)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		if (getppid() != parent)
			_exit(1);
		(void)close(0); /* the nursery's */
		work(config, lane, socket, shared);
	}
	return pid < 0 ? -errno : pid;
}

/* Workers that were killed but hang in the kernel, on a file of a server that does not answer. */
struct abandoned {
	pid_t pids[ABANDONED_MAX];
	size_t count;
};

/* Takes leave of those that have ended since. */
static void reap(struct abandoned *a)
{
	size_t i, kept = 0;

	for (i = 0; i < a->count; i++)
		if (waitpid(a->pids[i], NULL, WNOHANG) == 0)
			a->pids[kept++] = a->pids[i];
	a->count = kept;
}

/* Ends a worker in whatever state it is, but does not wait for long; returns its status as of
 * waitpid(). */
static int end(struct abandoned *a, pid_t pid)
{
	const struct timespec pause = { .tv_nsec = 500000 };
	int i, status = 0;

	if (pid <= 0)
		return 0;
	/* If it has died already, report that status, not ours. */
	if (waitpid(pid, &status, WNOHANG) == pid)
		return status;
	(void)kill(pid, SIGKILL);
	for (i = 0; i < DEATH_MS * 2; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		(void)nanosleep(&pause, NULL);
	}
	a->pids[a->count++] = pid;
	return SIGKILL;
}

void sandbox_nurse(const struct sandbox_config *config, struct sandbox_shared *const *shared)
{
	pid_t workers[SANDBOX_LANES_MAX] = { 0 };
	struct abandoned abandoned = { .count = 0 };
	struct sandbox_order order;
	int fd;

	/* As an ordinary process, or one that is to go after others, it had better not share its
	 * time with the profiler. */
	if (config->soon && (getpriority(PRIO_PROCESS, 0) > 0 || niceness_set(NICENESS_SOON) < 0))
		(void)setsid();
	renounce(config->opens);
	while (receive_next(0, &order, sizeof(order), &fd) == sizeof(order)) {
		struct sandbox_outcome outcome = { 0 };

		if (order.lane >= config->lanes)
			break;
		reap(&abandoned);
		outcome.status = end(&abandoned, workers[order.lane]);
		workers[order.lane] = 0;
		if (fd >= 0 && abandoned.count + config->lanes > ABANDONED_MAX) {
			outcome.code = -EBUSY;
		} else if (fd >= 0) {
			pid_t pid = start(config, order.lane, fd, shared[order.lane]);

			workers[order.lane] = MAX(pid, 0);
			outcome.code = pid;
		}
		cleanup_closep(&fd);
		if (sandbox_send(0, &outcome, sizeof(outcome), -1) < 0)
			break;
	}
	for (order.lane = 0; order.lane < config->lanes; order.lane++)
		(void)end(&abandoned, workers[order.lane]);
	_exit(0);
}
