/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/clock.h"
#include "file/procfs.h"
#include "jit/attacher.h"
#include "jit/jit.h"
#include "record/code/jit_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOBODY = 65534, STEP_MS = 10, LONG_MS = 30000 };

static void pause_a_step(void)
{
	const struct timespec step = { .tv_nsec = STEP_MS * 1000000L };

	(void)nanosleep(&step, NULL);
}

/* --- a process that looks like a virtual machine --- */

static void on_quit(int number _unused_)
{
}

static void *dispatch(void *ready)
{
	(void)prctl(PR_SET_NAME, "Signal Dispatcher", 0, 0, 0);
	(void)!write(*(int *)ready, "", 1);
	for (;;)
		(void)pause();
	return NULL;
}

/* Writes a map, which has a line more each time. */
static void write_map(unsigned int lines)
{
	_cleanup_free_ char *path = xasprintf("/tmp/perf-%d.map", (int)getpid());
	FILE *map = fopen(path, "we");
	unsigned int i;

	for (i = 0; map && i < lines; i++)
		(void)fprintf(map, "0x%x 0x10 f%u\n", 0x1000 + i * 0x10, i);
	if (map)
		(void)fclose(map);
}

/* Answers each request, or none. */
static _noreturn_ void play(int listener, bool answers)
{
	unsigned int asked = 0;
	char request[64];
	int fd;

	while (answers && (fd = accept(listener, NULL, NULL)) >= 0) {
		(void)!read(fd, request, sizeof(request));
		write_map(++asked);
		(void)!write(fd, "0\n", 2);
		(void)close(fd);
	}
	for (;;)
		(void)pause();
}

static _noreturn_ void be_machine(const char *library, int ready, bool answers)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), fd = open(library, O_RDONLY);
	pthread_t thread;

	if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		_exit(1);
	if (geteuid() == 0 && (setgid(NOBODY) < 0 || setuid(NOBODY) < 0))
		_exit(1);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); /* a change of user clears it */
	(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	(void)signal(SIGQUIT, on_quit);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/.java_pid%d",
		       (int)getpid());
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(listener, 8) < 0 || pthread_create(&thread, NULL, dispatch, &ready) != 0)
		_exit(1);
	play(listener, answers);
}

/* Starts one, whose library is in @directory; returns its PID once it can be asked. */
static pid_t machine_start(const char *directory, bool answers)
{
	_cleanup_free_ char *library = xasprintf("%s/libjvm.so", directory);
	_cleanup_free_ char *text = xmalloc(4097);
	int ends[2];
	char byte;
	pid_t pid;

	memset(text, 'x', 4096);
	text[4096] = '\0';
	CHECK_EQ(path_write(library, text, 0644, NULL), 0);
	CHECK_EQ(chmod(directory, 0755), 0);
	CHECK_EQ(pipe(ends), 0);
	pid = fork();
	if (pid == 0)
		be_machine(library, ends[1], answers);
	(void)close(ends[1]);
	CHECK_EQ(read(ends[0], &byte, 1), 1);
	(void)close(ends[0]);
	return pid;
}

static void machine_end(pid_t pid)
{
	_cleanup_free_ char *path = xasprintf("/tmp/.java_pid%d", (int)pid);
	_cleanup_free_ char *map = xasprintf("/tmp/perf-%d.map", (int)pid);

	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	(void)unlink(path);
	(void)unlink(map);
}

/* --- asking --- */

static struct attacher_answer take(struct attacher *a)
{
	struct attacher_answer answer = { .code = 1 };
	int64_t end_ms = clock_now_ms() + LONG_MS;

	while (!attacher_take(a, &answer) && clock_now_ms() < end_ms)
		pause_a_step();
	return answer;
}

static bool ask(struct attacher *a, pid_t pid)
{
	const struct attacher_question question = { (uint32_t)pid, (uint32_t)pid, 1 };

	return attacher_ask(a, &question);
}

struct search {
	uint32_t parent, found;
};

static void look(uint32_t pid, void *data)
{
	struct search *s = data;
	struct procfs_stat stat;

	if (procfs_stat("", pid, &stat) == 0 && stat.parent == s->parent)
		s->found = pid;
}

/* A child of process @pid; 0: it has none. */
static uint32_t child_of(uint32_t pid)
{
	struct search s = { .parent = pid };

	(void)procfs_pids("", look, &s);
	return s.found;
}

/* Waits for the child that asks for process @by, when it is no longer root's, and stops it. */
static void stop_child_of(uint32_t by)
{
	int64_t end_ms = clock_now_ms() + LONG_MS;
	bool is_stopped = false;

	while (!is_stopped && clock_now_ms() < end_ms) {
		uint32_t pid = child_of(by);
		_cleanup_free_ char *path = xasprintf("/proc/%u/status", pid), *status = NULL;

		if (pid && path_read("", path, &status, NULL) > 0 &&
		    (geteuid() != 0 || strstr(status, "\nUid:\t65534")))
			is_stopped = kill((pid_t)pid, SIGSTOP) == 0;
		else
			pause_a_step();
	}
	CHECK(is_stopped);
}

static void a_child_that_its_user_stopped_is_killed(void)
{
	_cleanup_directory_ char *directory = test_directory();
	_cleanup_(attacher_freep) struct attacher *a = NULL;
	uint32_t before = child_of((uint32_t)getpid()), asker;
	pid_t silent, good;

	CHECK_EQ(before, 0);
	CHECK_EQ(attacher_new(&a, NULL), 0);
	asker = child_of((uint32_t)getpid());
	silent = machine_start(directory, false);
	CHECK(attacher_ask(a,
			   &(struct attacher_question){ (uint32_t)silent, (uint32_t)silent, 1 }));
	stop_child_of(asker);
	CHECK_EQ(take(a).code, -ETIME);
	CHECK_EQ(child_of(asker), 0);
	machine_end(silent);
	/* Others are asked as before, also those of the same user. */
	good = machine_start(directory, true);
	CHECK(ask(a, good));
	CHECK_EQ(take(a).code, 0);
	machine_end(good);
}

/* --- when it is asked --- */

struct asking {
	struct attacher *attacher;
	struct jit_reader *reader;
	struct jit_process *process;
	pid_t pid;
};

/* Samples are in a machine's code from the first second on. */
static void begin(struct asking *a, const char *directory, bool answers)
{
	CHECK_EQ(attacher_new(&a->attacher, NULL), 0);
	a->pid = machine_start(directory, answers);
	a->reader = jit_reader_new("", 0, NULL);
	jit_reader_attacher(a->reader, a->attacher);
	a->process = jit_process_new(a->reader, (uint32_t)a->pid);
	CHECK(!jit_process_search(a->process));
	jit_reader_sync(a->reader, NULL, NS_PER_S, false);
	CHECK(!jit_reader_ask(a->reader, NS_PER_S));
	jit_process_miss(a->process, NS_PER_S);
}

static void end(struct asking *a)
{
	jit_process_free(a->process);
	jit_reader_free(a->reader);
	attacher_free(a->attacher);
	machine_end(a->pid);
}

/* Reads what is written, at @now, until there are @count pieces of code. */
static void read_until(struct asking *a, uint64_t now, size_t count)
{
	int64_t end_ms = clock_now_ms() + LONG_MS;

	while (jit_count(a->process->jit) != count && clock_now_ms() < end_ms) {
		jit_reader_sync(a->reader, NULL, now, false);
		pause_a_step();
	}
	CHECK_EQ(jit_count(a->process->jit), count);
}

static void one_is_asked_again_for_newer_code_only(void)
{
	_cleanup_directory_ char *directory = test_directory();
	struct jit_reader_stats stats;
	struct asking a;

	begin(&a, directory, true);
	CHECK(jit_reader_ask(a.reader, NS_PER_S));
	CHECK(!jit_reader_ask(a.reader, NS_PER_S)); /* it has not answered */
	CHECK(!jit_process_has_all(a.process, NS_PER_S));
	read_until(&a, NS_PER_S, 1);
	CHECK(jit_process_has_all(a.process, NS_PER_S));
	jit_process_miss(a.process, NS_PER_S); /* it would be in the map */
	jit_reader_sync(a.reader, NULL, 3 * NS_PER_S, false);
	CHECK(!jit_reader_ask(a.reader, 3 * NS_PER_S));
	jit_process_miss(a.process, 3 * NS_PER_S);
	CHECK(jit_reader_ask(a.reader, 3 * NS_PER_S));
	read_until(&a, 3 * NS_PER_S, 2);
	/* Not before what it has written already is read. */
	jit_process_miss(a.process, 5 * NS_PER_S);
	CHECK(!jit_reader_ask(a.reader, 5 * NS_PER_S));
	jit_reader_stats(a.reader, &stats);
	CHECK_EQ(stats.java_maps, 2);
	end(&a);
}

static void at_the_end_what_is_missed_is_asked_for_at_once(void)
{
	_cleanup_directory_ char *directory = test_directory();
	struct asking a;

	begin(&a, directory, true);
	CHECK(jit_reader_ask(a.reader, NS_PER_S));
	/* The answer is on its way when more is missed. */
	jit_process_miss(a.process, NS_PER_S + 1);
	CHECK(jit_reader_ask_last(a.reader, NS_PER_S + 1));
	jit_reader_sync(a.reader, NULL, NS_PER_S + 1, true);
	CHECK_EQ(jit_count(a.process->jit), 1);
	jit_process_miss(a.process, 2 * NS_PER_S);
	jit_reader_sync(a.reader, NULL, 2 * NS_PER_S, true);
	CHECK(jit_reader_ask_last(a.reader, 2 * NS_PER_S));
	jit_reader_sync(a.reader, NULL, 2 * NS_PER_S, true);
	CHECK_EQ(jit_count(a.process->jit), 2);
	CHECK(!jit_reader_ask_last(a.reader, 3 * NS_PER_S));
	end(&a);
}

static void the_end_is_not_held_up_by_one_that_does_not_answer(void)
{
	_cleanup_directory_ char *directory = test_directory();
	struct asking a;

	begin(&a, directory, false);
	CHECK(jit_reader_ask_last(a.reader, NS_PER_S));
	CHECK(attacher_is_busy(a.attacher));
	CHECK(!jit_process_has_all(a.process, NS_PER_S));
	end(&a);
}

TESTS(T(a_child_that_its_user_stopped_is_killed), T(one_is_asked_again_for_newer_code_only),
      T(at_the_end_what_is_missed_is_asked_for_at_once),
      T(the_end_is_not_held_up_by_one_that_does_not_answer))
