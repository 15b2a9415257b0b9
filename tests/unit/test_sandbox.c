/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"
#include "base/mem.h"
#include "file/path.h"
#include "helper/internal/sandbox_worker.h"
#include "helper/niceness.h"
#include "helper/seccomp_confine.h"
#include "helper/sandbox.h"
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum deed {
	ECHO,
	READ,
	CRASH,
	HANG,
	OPEN,
	CONNECT,
	FORK,
	PEEK,
	LIE,
	LEAVE,
	FILL,
	STAT,
	FSTAT,
	SHARE,
	BURN,
	HURRY,
	BURN_LONG,
	LINGER
};

static int secret = 7; /* changed after the sandbox was made */

/* Answers as a worker would, over whatever socket it has, and goes on. */
static _noreturn_ void linger(void)
{
	const struct sandbox_done done = { 0 };
	int fd;

	for (fd = 0; fd < 16; fd++)
		(void)sandbox_send(fd, &done, sizeof(done), -1);
	for (;;)
		__asm__ volatile("");
}

/* Takes 200 ms of CPU time; returns how often this worker did that. */
static ssize_t burn(void)
{
	static ssize_t served;
	uint64_t end_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + NS_PER_S / 5;

	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns)
		;
	return ++served;
}

/* What a worker does that was taken over. */
static void serve(const void *request, size_t size, int fd, struct sandbox_reply *reply)
{
	enum deed deed = *(const enum deed *)request;
	struct stat st;
	ssize_t n = 0;

	switch (deed) {
	case ECHO:
		memcpy(reply->memory, request, size);
		n = (ssize_t)size;
		break;
	case READ:
		n = pread(fd, reply->memory, reply->room, 0);
		break;
	case CRASH:
		n = *(volatile char *)(uintptr_t)secret;
		break;
	case HANG:
		for (;;)
			__asm__ volatile("");
	case OPEN:
		n = syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY);
		break;
	case STAT: /* the flag does not say that the path is empty */
		n = fstatat(AT_FDCWD, "/etc/passwd", &st, AT_EMPTY_PATH);
		break;
	case FSTAT:
		n = fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ? -1 : 0;
		break;
	case SHARE:
		n = mmap(NULL, 1 << 20, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
			    ? -1
			    : 0;
		break;
	case CONNECT:
		n = syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
		break;
	case FORK:
		n = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		break;
	case PEEK:
		memcpy(reply->memory, &secret, sizeof(secret));
		n = sizeof(secret);
		break;
	case LIE:
		n = (ssize_t)reply->room + 1;
		break;
	case LEAVE:
		_exit(3);
	case BURN:
		n = burn();
		break;
	case BURN_LONG:
		(void)burn();
		(void)burn();
		n = getpriority(PRIO_PROCESS, 0) < 0;
		break;
	case HURRY: /* whether it is preferred */
		n = getpriority(PRIO_PROCESS, 0) < 0;
		break;
	case LINGER:
		linger();
	case FILL:
		memset(reply->memory, 1, reply->room);
		n = (ssize_t)reply->room;
		break;
	}
	reply->size = n < 0 ? 0 : (size_t)n;
	reply->code = n < 0 ? -EIO : 0;
}

static struct sandbox *make(int time_ms)
{
	const struct sandbox_config config = { .name = "test-worker",
					       .lanes = 2,
					       .room = 4 << 20,
					       .time_ms = time_ms,
					       .serve = serve };
	struct sandbox *s = NULL;
	struct error err = ERROR_INIT;

	CHECK_EQ(sandbox_new(&config, &s, &err), 0);
	return s;
}

/* Has one deed done in lane 0: what sandbox_call() returned. */
static int call(struct sandbox *s, enum deed deed, struct sandbox_reply *reply, struct error *err)
{
	return sandbox_call(s, 0, &deed, sizeof(deed), -1, reply, err);
}

/* A worker that opens a file, and has another one do the deed with it. */
static void serve_front(const void *request, size_t size, int fd _unused_,
			struct sandbox_reply *reply)
{
	_cleanup_close_ int file = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	struct sandbox_reply there = { 0 };

	reply->code = sandbox_call(reply->data, 1, request, size, file, &there, NULL);
	reply->size = there.size;
	memcpy(reply->memory, there.memory, there.size);
}

static struct sandbox *make_front(struct sandbox *back)
{
	const struct sandbox_config config = { .name = "test-front",
					       .lanes = 1,
					       .room = 1 << 20,
					       .time_ms = 100,
					       .serve = serve_front,
					       .data = back,
					       .opens = true,
					       .back = back,
					       .back_lane = 1 };
	struct sandbox *s = NULL;

	CHECK_EQ(sandbox_new(&config, &s, NULL), 0);
	return s;
}

static void one_opens_and_another_reads(void)
{
	_cleanup_(sandbox_freep) struct sandbox *back = make(300);
	_cleanup_(sandbox_freep) struct sandbox *front = make_front(back);
	struct sandbox_reply reply = { 0 };
	struct error err = ERROR_INIT;
	int i;

	for (i = 0; i < 2; i++) {
		CHECK_EQ(call(front, READ, &reply, &err), 0);
		CHECK_EQ(reply.code, 0);
		CHECK(reply.size == 11 && !memcmp(reply.memory, "test-front\n", 11));
		CHECK_EQ(call(front, LEAVE, &reply, &err), -EPIPE);
		CHECK_EQ(call(front, HANG, &reply, &err), -ETIME);
	}
	CHECK_EQ(call(front, CRASH, &reply, &err), -EPIPE);
	CHECK(strstr(err.text, "SIGSEGV") || strstr(err.text, "exited"));
	sandbox_stop(front);
	CHECK_EQ(call(front, READ, &reply, &err), -ECANCELED);
}

static bool works(struct sandbox *s)
{
	struct sandbox_reply reply = { 0 };

	return call(s, ECHO, &reply, NULL) == 0 && reply.size == sizeof(enum deed) &&
	       *(enum deed *)reply.memory == ECHO;
}

static void it_reads_what_it_is_handed(void)
{
	_cleanup_(sandbox_freep) struct sandbox *s = make(10000);
	_cleanup_close_ int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	struct sandbox_reply reply = { 0 };
	enum deed deed = READ;
	int i;

	CHECK(works(s));
	for (i = 0; i < 100; i++)
		CHECK_EQ(sandbox_call(s, i % 2, &deed, sizeof(deed), fd, &reply, NULL), 0);
	CHECK(reply.size > 0 && !memcmp(reply.memory, "test_sandbox", 12));
}

static void one_that_dies_is_replaced(void)
{
	_cleanup_(sandbox_freep) struct sandbox *s = make(10000);
	struct sandbox_reply reply;
	struct error err = ERROR_INIT;
	int i;

	for (i = 0; i < 5; i++) {
		CHECK_EQ(call(s, CRASH, &reply, &err), -EPIPE);
		CHECK(works(s));
	}
	/* With a sanitizer it exits instead. */
	CHECK(strstr(err.text, "SIGSEGV") || strstr(err.text, "exited"));
	CHECK_EQ(call(s, LEAVE, &reply, &err), -EPIPE);
	CHECK_STR(err.text, "the process that read it exited unexpectedly");
	CHECK(works(s));
}

static void one_that_hangs_is_replaced(void)
{
	_cleanup_(sandbox_freep) struct sandbox *s = make(300);
	struct sandbox_reply reply;
	struct error err = ERROR_INIT;

	CHECK_EQ(call(s, HANG, &reply, &err), -ETIME);
	CHECK(strstr(err.text, "took more than"));
	CHECK_EQ(call(s, HANG, &reply, &err), -ETIME);
}

static void its_time_is_limited_between_requests_too(void)
{
	_cleanup_(sandbox_freep) struct sandbox *s = make(300);
	const uint64_t most_ns = 5 * NS_PER_S;
	uint64_t cpu_ns = 1, before_ns = 0;
	struct sandbox_reply reply;

	CHECK_EQ(call(s, LINGER, &reply, NULL), 0);
	/* Until it is at rest, or was not stopped. */
	for (; (cpu_ns != before_ns || cpu_ns < NS_PER_S / 2) && cpu_ns < most_ns; (void)sleep(2)) {
		before_ns = cpu_ns;
		cpu_ns = sandbox_cpu(s);
	}
	CHECK(cpu_ns < most_ns);
	CHECK(works(s));
}

static void one_that_used_its_time_is_replaced_before_a_request(void)
{
	_cleanup_(sandbox_freep) struct sandbox *s = make(500);
	struct sandbox_reply reply;
	size_t i, most = 0;

	for (i = 0; i < 12; i++) {
		CHECK_EQ(call(s, BURN, &reply, NULL), 0);
		most = MAX(most, reply.size);
	}
	CHECK(most > 0 && most <= 3);
}

/* On a busy machine it has its time all the same. */
static void one_that_is_preferred_is_so_for_a_while_only(void)
{
	const struct sandbox_config config = { .name = "test-soon",
					       .lanes = 2,
					       .room = 1 << 20,
					       .time_ms = 2000,
					       .serve = serve,
					       .soon = 1 << 0 };
	_cleanup_(sandbox_freep) struct sandbox *s = NULL;
	struct sandbox_reply reply = { 0 };
	const enum deed hurry = HURRY;
	int before = getpriority(PRIO_PROCESS, 0);

	if (niceness_set(NICENESS_SOON) < 0)
		SKIP("no right to a better priority");
	CHECK_EQ(niceness_set(before), 0);
	CHECK_EQ(sandbox_new(&config, &s, NULL), 0);
	CHECK_EQ(sandbox_call(s, 1, &hurry, sizeof(hurry), -1, &reply, NULL), 0);
	CHECK_EQ(reply.size, 0);
	CHECK_EQ(call(s, HURRY, &reply, NULL), 0);
	CHECK_EQ(reply.size, 1);
	CHECK_EQ(call(s, BURN_LONG, &reply, NULL), 0);
	CHECK_EQ(reply.size, 0);
	CHECK_STR(reply.refused, "");
	CHECK_EQ(call(s, HURRY, &reply, NULL), 0); /* another one */
	CHECK_EQ(reply.size, 1);
}

static void waiting_for_a_cpu_is_no_hanging(void)
{
	_cleanup_(sandbox_freep) struct sandbox *s = make(100);
	uint64_t before, after;
	struct sandbox_reply reply;
	pid_t others[32];
	size_t i, count = MIN((size_t)sysconf(_SC_NPROCESSORS_ONLN) * 4, ARRAY_SIZE(others));

	for (i = 0; i < count; i++) {
		others[i] = fork();
		if (others[i] == 0)
			for (;;)
				__asm__ volatile("");
	}
	before = sandbox_cpu(s);
	CHECK_EQ(call(s, HANG, &reply, NULL), -ETIME);
	after = sandbox_cpu(s);
	CHECK(after - before >= 100000000);
	for (i = 0; i < count; i++) {
		(void)kill(others[i], SIGKILL);
		(void)waitpid(others[i], NULL, 0);
	}
}

static void a_lying_worker_is_replaced(void)
{
	_cleanup_(sandbox_freep) struct sandbox *s = make(10000);
	struct sandbox_reply reply;

	CHECK_EQ(call(s, LIE, &reply, NULL), -EPIPE);
	CHECK(works(s));
}

static void a_large_answer_is_given_back(void)
{
	_cleanup_(sandbox_freep) struct sandbox *s = make(10000);
	struct sandbox_reply reply = { 0 };
	const char *last;

	CHECK_EQ(call(s, FILL, &reply, NULL), 0);
	CHECK_EQ(reply.size, 4 << 20);
	last = (const char *)reply.memory + reply.size - 1;
	CHECK_EQ(*last, 1);
	sandbox_drop(s, 0);
	CHECK_EQ(*last, 0);
	CHECK(works(s));
}

static void it_can_open_and_start_nothing(void)
{
	static const struct {
		enum deed deed;
		const char *call;
	} deeds[] = { { OPEN, "openat" },
		      { CONNECT, "socket" },
		      { FORK, "clone" },
		      { STAT, "newfstatat" },
		      { SHARE, "mmap" } };
	_cleanup_(sandbox_freep) struct sandbox *s = NULL;
	size_t i;

	if (!seccomp_confine_can())
		SKIP("built without libseccomp");
	s = make(10000);
	for (i = 0; i < ARRAY_SIZE(deeds); i++) {
		struct sandbox_reply reply = { 0 };

		CHECK_EQ(call(s, deeds[i].deed, &reply, NULL), 0);
		CHECK_EQ(reply.code, -EIO);
		CHECK_STR(reply.refused, deeds[i].call);
		CHECK(works(s));
	}
}

static void it_can_ask_for_the_size_of_what_it_is_handed(void)
{
	_cleanup_(sandbox_freep) struct sandbox *s = make(10000);
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct sandbox_reply reply = { .code = 1 };
	enum deed deed = FSTAT;

	CHECK_EQ(sandbox_call(s, 0, &deed, sizeof(deed), fd, &reply, NULL), 0);
	CHECK_EQ(reply.code, 0);
	CHECK_STR(reply.refused, "");
}

static void a_new_worker_does_not_see_what_we_did_since(void)
{
	_cleanup_(sandbox_freep) struct sandbox *s = make(10000);
	struct sandbox_reply reply = { 0 };
	int seen = 0;

	secret = 8;
	CHECK_EQ(call(s, PEEK, &reply, NULL), 0);
	memcpy(&seen, reply.memory, sizeof(seen));
	CHECK_EQ(seen, 7);
	secret = 7;
}

static void it_ends_with_us(void)
{
	int ends[2];
	pid_t pid;
	char byte;

	CHECK_EQ(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		struct sandbox *s = make(10000);

		/* Its processes have let go of the pipe. */
		_exit(works(s) ? 0 : 1);
	}
	(void)close(ends[1]);
	CHECK_EQ(read(ends[0], &byte, 1), 0);
	(void)close(ends[0]);
}

static void what_its_processes_take_is_known(void)
{
	_cleanup_(sandbox_freep) struct sandbox *s = make(10000);
	uint64_t cpu = sandbox_cpu(s), memory = sandbox_memory(s);
	struct sandbox_reply reply;

	CHECK(works(s));
	CHECK(sandbox_cpu(s) > cpu);
	CHECK(sandbox_memory(s) > memory);
	cpu = sandbox_cpu(s);
	memory = sandbox_memory(s);
	/* Also of those that are no more. */
	CHECK_EQ(call(s, CRASH, &reply, NULL), -EPIPE);
	CHECK(sandbox_cpu(s) >= cpu);
	CHECK(sandbox_memory(s) < memory);
}

static void *ask_for_work(void *data)
{
	CHECK(works(data));
	return NULL;
}

/* Whether a thread of this process other than the calling one waits to receive something. */
static bool one_receives(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	bool is_so = false;

	while (tasks && (entry = readdir(tasks))) {
		_cleanup_free_ char *path = xasprintf("/proc/self/task/%s/syscall", entry->d_name);
		_cleanup_free_ char *call = NULL;

		is_so |= path_read(NULL, path, &call, NULL) > 0 && atoi(call) == SYS_recvfrom;
	}
	(void)closedir(tasks);
	return is_so;
}

/* The test would hang. */
static void its_use_is_known_while_a_worker_is_waited_for(void)
{
	_cleanup_(sandbox_freep) struct sandbox *s = make(10000);
	_cleanup_free_ char *child = NULL;
	uint64_t cpu = sandbox_cpu(s), memory = sandbox_memory(s);
	pthread_t thread;
	pid_t nursery;

	CHECK(path_read(NULL, "/proc/thread-self/children", &child, NULL) > 0);
	nursery = (pid_t)atoi(child);
	CHECK_EQ(kill(nursery, SIGSTOP), 0);
	CHECK_EQ(pthread_create(&thread, NULL, ask_for_work, s), 0);
	while (!one_receives())
		(void)sched_yield();
	CHECK(sandbox_cpu(s) >= cpu);
	CHECK_EQ(sandbox_memory(s), memory);
	CHECK_EQ(kill(nursery, SIGCONT), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

TESTS(T(its_use_is_known_while_a_worker_is_waited_for), T(what_its_processes_take_is_known),
      T(it_reads_what_it_is_handed), T(one_opens_and_another_reads), T(one_that_dies_is_replaced),
      T(one_that_hangs_is_replaced), T(its_time_is_limited_between_requests_too),
      T(one_that_used_its_time_is_replaced_before_a_request),
      T(one_that_is_preferred_is_so_for_a_while_only), T(waiting_for_a_cpu_is_no_hanging),
      T(a_lying_worker_is_replaced), T(a_large_answer_is_given_back),
      T(it_can_open_and_start_nothing), T(it_can_ask_for_the_size_of_what_it_is_handed),
      T(a_new_worker_does_not_see_what_we_did_since), T(it_ends_with_us))
