/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/control_thread.h"

#include "base/clock.h"
#include "base/mem.h"
#include "control/socket.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000ULL /* nanoseconds */

enum { LINES_MAX = 16 };

/* A request that was passed on. Its memory is used by the owner while it waits or runs, and by the
 * thread otherwise. */
struct request {
	const struct control_command *command;
	bool has_arg;
	char arg[CONTROL_LINE_MAX];
	struct strbuf answer; /* memory of the owner, which keeps it for the next request */
	struct error err;
	int result;
	bool answered;
};

/* A line for the log. */
struct line {
	enum log_level level;
	char text[CONTROL_SAY_MAX];
};

struct control_thread {
	struct control_thread_config config;
	struct control_server *server; /* used by the thread alone once that runs */
	pthread_t thread;
	sem_t entered;
	bool started;
	int wake; /* eventfd for the thread: there are answers, or it is to end */
	int due;  /* eventfd for the owner */
	uint64_t window_ns, window_cpu_ns; /* start of this window, CPU time of the thread then */
	struct request requests[CONTROL_CLIENTS_MAX]; /* by ticket */
	struct request *held[CONTROL_CLIENTS_MAX];    /* the owner's: they ran, oldest first */
	size_t held_count;

	/* Is held for the time of copying some words. It lends the thread's priority to an owner
	 * that holds it. */
	pthread_mutex_t lock;
	/* Protected by it: */
	bool ends;
	uint32_t waiting[CONTROL_CLIENTS_MAX]; /* tickets, oldest first */
	size_t waiting_count;
	int adopted[CONTROL_CLIENTS_MAX]; /* connections to adopt */
	size_t adopted_count;
	struct line lines[LINES_MAX];
	size_t line_count, lines_dropped;
	struct {
		int directory, listener; /* -1: none */
	} renewed;			 /* socket, to listen on from now on */
};

static void lock(struct control_thread *t)
{
	(void)pthread_mutex_lock(&t->lock);
}

static void unlock(struct control_thread *t)
{
	(void)pthread_mutex_unlock(&t->lock);
}

static void notify(int fd)
{
	const uint64_t one = 1;

	(void)!write(fd, &one, sizeof(one));
}

static void swallow(int fd)
{
	uint64_t count;

	(void)!read(fd, &count, sizeof(count));
}

/* --- in the thread --- */

static void pass(uint32_t ticket, const struct control_command *c, const char *arg, void *data)
{
	struct control_thread *t = data;
	struct request *request = &t->requests[ticket];

	request->command = c;
	request->has_arg = arg != NULL;
	if (arg)
		(void)strcpy(request->arg, arg); /* part of a line of that size */
	lock(t);
	t->waiting[t->waiting_count++] = ticket; /* each client has at most one */
	unlock(t);
	notify(t->due);
}

/* Runs out of room only if the owner does not take connections; then there is no reader. */
static void adopt(int fd, void *data)
{
	struct control_thread *t = data;
	bool taken;

	lock(t);
	taken = t->adopted_count < ARRAY_SIZE(t->adopted);
	if (taken)
		t->adopted[t->adopted_count++] = fd;
	unlock(t);
	if (!taken)
		(void)close(fd);
	notify(t->due);
}

static void say(enum log_level level, const char *text, void *data)
{
	struct control_thread *t = data;
	struct line *line;

	lock(t);
	if (t->line_count == LINES_MAX) {
		t->lines_dropped++;
	} else {
		line = &t->lines[t->line_count++];
		line->level = level;
		(void)stpncpy(line->text, text, sizeof(line->text) - 1);
	}
	unlock(t);
	notify(t->due);
}

static void sleep_until(uint64_t ns)
{
	const struct timespec when = { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR)
		;
}

/* Waits for the next window if this one's time is used up. */
static void keep_to_windows(void *data)
{
	struct control_thread *t = data;
	uint64_t now_ns = clock_now_ns(), cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (now_ns - t->window_ns < CONTROL_THREAD_WINDOW_MS * MS) {
		if (cpu_ns - t->window_cpu_ns < CONTROL_THREAD_BUSY_MS * MS)
			return;
		sleep_until(t->window_ns + CONTROL_THREAD_WINDOW_MS * MS);
		now_ns = clock_now_ns();
	}
	t->window_ns = now_ns;
	t->window_cpu_ns = cpu_ns;
}

/* Listens on another socket, if there is one. */
static void move_server(struct control_thread *t)
{
	int directory, listener;

	lock(t);
	directory = STEAL_FD(t->renewed.directory);
	listener = STEAL_FD(t->renewed.listener);
	unlock(t);
	if (listener >= 0)
		control_server_move(t->server, directory, listener);
}

/* Sends the answers that are there. Returns whether the thread goes on. */
static bool send_answers(struct control_thread *t)
{
	bool ends;
	uint32_t i;

	swallow(t->wake);
	lock(t);
	ends = t->ends;
	unlock(t);
	move_server(t);
	for (i = 0; i < CONTROL_CLIENTS_MAX; i++) {
		struct request *request = &t->requests[i];

		if (!__atomic_load_n(&request->answered, __ATOMIC_ACQUIRE))
			continue;
		request->answered = false;
		control_server_answer(t->server, i, request->result, &request->answer,
				      &request->err);
	}
	return !ends;
}

static void *serve(void *data)
{
	struct control_thread *t = data;
	struct pollfd fds[] = { { .fd = control_server_fd(t->server), .events = POLLIN },
				{ .fd = t->wake, .events = POLLIN } };
	bool goes_on = true;

	if (t->config.enter)
		t->config.enter(t->config.data);
	(void)sem_post(&t->entered);
	while (goes_on) {
		if (poll(fds, ARRAY_SIZE(fds), -1) <= 0)
			continue;
		if (fds[1].revents)
			goes_on = send_answers(t);
		if (fds[0].revents && goes_on)
			control_server_run(t->server);
		keep_to_windows(t);
	}
	return NULL;
}

/* --- in the owner's thread --- */

static void write_lines(struct control_thread *t)
{
	struct line lines[LINES_MAX];
	size_t i, count, dropped;

	lock(t);
	count = t->line_count;
	dropped = t->lines_dropped;
	memcpy(lines, t->lines, count * sizeof(*lines));
	t->line_count = t->lines_dropped = 0;
	unlock(t);
	for (i = 0; i < count; i++)
		log_line(lines[i].level, "%s", lines[i].text);
	if (dropped)
		log_info("control: %zu more lines were dropped", dropped);
}

static void adopt_all(struct control_thread *t)
{
	int fds[CONTROL_CLIENTS_MAX];
	size_t i, count;

	lock(t);
	count = t->adopted_count;
	memcpy(fds, t->adopted, count * sizeof(*fds));
	t->adopted_count = 0;
	unlock(t);
	for (i = 0; i < count; i++)
		t->config.adopt(fds[i], t->config.data);
}

static bool take(struct control_thread *t, uint32_t *ret)
{
	bool taken;

	lock(t);
	taken = t->waiting_count > 0;
	*ret = t->waiting[0];
	if (taken)
		memmove(t->waiting, t->waiting + 1, --t->waiting_count * sizeof(*t->waiting));
	unlock(t);
	return taken;
}

static void run(struct control_thread *t, struct request *request)
{
	const struct control_command *c = request->command;

	strbuf_clear(&request->answer);
	request->err = ERROR_INIT;
	request->result = c->run(request->has_arg ? request->arg : NULL, &request->answer,
				 t->config.data, &request->err);
	if (t->config.ran)
		t->config.ran(t->config.data);
	t->held[t->held_count++] = request; /* each client has at most one */
}

static void answer_all(struct control_thread *t)
{
	for (size_t i = 0; i < t->held_count; i++)
		__atomic_store_n(&t->held[i]->answered, true, __ATOMIC_RELEASE);
	if (t->held_count)
		notify(t->wake);
	t->held_count = 0;
}

bool control_thread_answer(struct control_thread *t)
{
	if (t->held_count && t->config.is_settled && !t->config.is_settled(t->config.data))
		return true;
	answer_all(t);
	return false;
}

void control_thread_run(struct control_thread *t)
{
	uint32_t ticket;
	size_t n;

	swallow(t->due);
	write_lines(t);
	adopt_all(t);
	/* Not for ever: the owner has other work. */
	for (n = 0; n < CONTROL_CLIENTS_MAX && take(t, &ticket); n++)
		run(t, &t->requests[ticket]);
	if (n == CONTROL_CLIENTS_MAX)
		notify(t->due);
	(void)control_thread_answer(t);
}

int control_thread_renew(struct control_thread *t, const char *session_dir, struct error *err)
{
	_cleanup_close_ int directory = control_directory(session_dir, err), listener = -1;

	if (directory >= 0)
		listener = control_listen(directory, session_dir, control_server_group(t->server),
					  err);
	if (listener < 0)
		return directory < 0 ? directory : listener;
	lock(t);
	cleanup_closep(&t->renewed.directory);
	cleanup_closep(&t->renewed.listener);
	t->renewed.directory = STEAL_FD(directory);
	t->renewed.listener = STEAL_FD(listener);
	unlock(t);
	notify(t->wake);
	return 0;
}

int control_thread_fd(const struct control_thread *t)
{
	return t->due;
}

static void init_lock(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attr;

	(void)pthread_mutexattr_init(&attr);
	(void)pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	(void)pthread_mutex_init(mutex, &attr);
	(void)pthread_mutexattr_destroy(&attr);
}

/* Starts the thread with all signals blocked, because the owner waits for them; except SIGSYS,
 * which reports a refused system call and, blocked, would end the process. */
static int start(struct control_thread *t, struct error *err)
{
	sigset_t all, before;
	int r;

	(void)sigfillset(&all);
	(void)sigdelset(&all, SIGSYS);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&t->thread, NULL, serve, t);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r)
		return error_errno(err, -r, "cannot start a thread");
	t->started = true;
	while (sem_wait(&t->entered) < 0)
		;
	return 0;
}

int control_thread_new(const struct control_thread_config *config, struct control_thread **ret,
		       struct error *err)
{
	_cleanup_(control_thread_freep) struct control_thread *t = xcalloc(1, sizeof(*t));
	const struct control_server_config server = { .session_dir = config->session_dir,
						      .group = config->group,
						      .commands = config->commands,
						      .data = t,
						      .peek_data = config->peek_data,
						      .adopt = adopt,
						      .pass = pass,
						      .served = keep_to_windows,
						      .say = say };
	int r;

	t->config = *config;
	t->renewed.directory = t->renewed.listener = -1;
	init_lock(&t->lock);
	(void)sem_init(&t->entered, 0, 0);
	t->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	t->due = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (t->wake < 0 || t->due < 0)
		return error_errno(err, -errno, "cannot set up the control socket's thread");
	r = control_server_new(&server, &t->server, err);
	if (r == 0)
		r = start(t, err);
	if (r == 0)
		*ret = STEAL(t);
	return r;
}

static void end(struct control_thread *t)
{
	answer_all(t);
	lock(t);
	t->ends = true;
	unlock(t);
	notify(t->wake);
	(void)pthread_join(t->thread, NULL);
	write_lines(t);
	for (size_t i = 0; i < t->adopted_count; i++)
		(void)close(t->adopted[i]);
}

void control_thread_free(struct control_thread *t)
{
	if (!t)
		return;
	if (t->started)
		end(t);
	control_server_free(t->server);
	for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++)
		strbuf_done(&t->requests[i].answer);
	cleanup_closep(&t->wake);
	cleanup_closep(&t->due);
	(void)sem_destroy(&t->entered);
	(void)pthread_mutex_destroy(&t->lock);
	free(t);
}
