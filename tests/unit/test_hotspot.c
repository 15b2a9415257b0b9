/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/clock.h"
#include "base/mem.h"
#include "jit/internal/hotspot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PID = 7, LONG_MS = 60000, SHORT_MS = 50 };

static const char libjvm[] = "7f00-8f00 r-xp 0 08:01 5 /usr/lib/jvm/java-17/lib/server/libjvm.so\n";
static const char openj9[] = "7f00-8f00 r-xp 0 08:01 5 /opt/lib/server/libjvm.so\n"
			     "9f00-af00 r-xp 0 08:01 6 /opt/lib/default/libj9vm29.so\n";
static const char other[] = "7f00-8f00 r-xp 0 08:01 5 /usr/bin/nginx\n";
static const char catches[] = "Name:\tjava\nUid:\t1\t1000\t1\t1\nGid:\t2\t1001\t2\t2\n"
			      "SigCgt:\t0000000101005ccd\n";
static const char dies[] = "Name:\tjava\nUid:\t1\t1000\t1\t1\nGid:\t2\t1001\t2\t2\n"
			   "SigCgt:\t0000000000000001\n";
/* It starts, as far as the clock of any machine goes. */
static const char young[] = "7 (java) S 1 1 1 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 18000000000000000000 "
			    "0 0\n";
static const char old[] = "7 (java) S 1 1 1 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 0 0 0\n";
static const char dispatcher[] = "Signal Dispatch\n";
static const char odd[] = "Name:\tjava\nUid:\t1\nGid:\t2\t1001\t2\t2\nSigCgt:\tffff\n";

static void plant(const char *root, const char *name, const char *text)
{
	_cleanup_free_ char *path = xasprintf("%s/proc/%d/%s", root, PID, name);

	CHECK_EQ(path_make_parents(path, 0755, NULL), 0);
	CHECK_EQ(path_write(path, text, 0644, NULL), 0);
}

static void only_what_catches_the_signal_is_asked(void)
{
	static const struct {
		const char *maps, *status, *words, *environment, *thread;
		int result;
		const char *stat;
	} cases[] = {
		{ libjvm, catches, "java Spin", "", dispatcher, 0 },
		{ libjvm, catches, "java Spin", "", "java\n", -EAGAIN, young },
		{ libjvm, dies, "java Spin", "", dispatcher, -EAGAIN, young },
		{ libjvm, dies, "java -Xrs Spin", "", dispatcher, -EOPNOTSUPP, young },
		{ libjvm, dies, "java Spin", "", dispatcher, -EOPNOTSUPP, old },
		{ libjvm, catches, "java -XX:+DisableAttachMechanism Spin", "", dispatcher,
		  -EOPNOTSUPP, young },
		{ other, catches, "nginx", "", dispatcher, -ENOEXEC },
		{ openj9, catches, "java Spin", "", dispatcher, -ENOEXEC },
		{ libjvm, dies, "java -Xrs Spin", "", dispatcher, -EOPNOTSUPP },
		{ libjvm, catches, "postgres", "", "postgres\n", -EOPNOTSUPP },
		{ libjvm, catches, "java -XX:+DisableAttachMechanism Spin", "", dispatcher,
		  -EOPNOTSUPP },
		{ libjvm, catches, "java Spin", "JAVA_TOOL_OPTIONS=-XX:+DisableAttachMechanism",
		  dispatcher, -EOPNOTSUPP },
		{ libjvm, odd, "java Spin", "", dispatcher, -EBADMSG },
		{ libjvm, "", "java Spin", "", dispatcher, -EBADMSG },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_directory_ char *root = test_directory();
		struct hotspot who = { 0 };

		plant(root, "maps", cases[i].maps);
		plant(root, "status", cases[i].status);
		plant(root, "cmdline", cases[i].words);
		plant(root, "environ", cases[i].environment);
		if (cases[i].stat)
			plant(root, "stat", cases[i].stat);
		plant(root, "task/8/comm", cases[i].thread);
		plant(root, "../8/comm", cases[i].thread);
		CHECK_EQ(hotspot_look(root, PID, &who), cases[i].result);
		CHECK_EQ(who.tgid, cases[i].result ? 0 : PID);
		CHECK_EQ(who.uid, cases[i].result ? 0 : 1000);
		CHECK_EQ(who.gid, cases[i].result ? 0 : 1001);
	}
}

static void a_process_that_has_ended_is_not_asked(void)
{
	_cleanup_directory_ char *root = test_directory();
	struct hotspot who;

	CHECK(hotspot_look(root, PID, &who) < 0);
}

static void an_answer_has_a_number_first(void)
{
	static const struct {
		const char *text;
		int result;
	} cases[] = {
		{ "0\nCommand executed successfully\n", 0 },
		{ "0\n", 0 },
		{ "", -EBADMSG },
		{ "0", -EBADMSG },
		{ "01\n", -EBADMSG },
		{ "101\nProtocol mismatch with target VM\n", -EBADMSG },
		{ "1\njava.lang.IllegalArgumentException: Unknown diagnostic command\n", -ENOSYS },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		CHECK_EQ(hotspot_answer(cases[i].text, strlen(cases[i].text)), cases[i].result);
}

/* What a virtual machine does that has no socket yet: it waits for the signal, and then answers if
 * it is asked as it should be. */
static _noreturn_ void play(const char *root, const sigset_t *quit, const char *answer)
{
	static const char expected[] = "1\0jcmd\0Compiler.perfmap\0\0";
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char trigger[32], question[64] = "";
	int number, server, fd;
	ssize_t n;

	(void)snprintf(trigger, sizeof(trigger), ".attach_pid%d", (int)getpid());
	(void)snprintf(address.sun_path, sizeof(address.sun_path), ".java_pid%d", (int)getpid());
	if (chdir(root) < 0 || chdir("tmp") < 0 || sigwait(quit, &number) != 0)
		_exit(1);
	server = socket(AF_UNIX, SOCK_STREAM, 0);
	if (access(trigger, F_OK) < 0 || !answer ||
	    bind(server, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(server, 1) < 0)
		for (;;)
			(void)pause();
	fd = accept(server, NULL, NULL);
	n = read(fd, question, sizeof(question));
	if (n != sizeof(expected) || memcmp(question, expected, sizeof(expected)) != 0)
		answer = "1\nwhat?\n";
	(void)write(fd, answer, strlen(answer));
	_exit(0);
}

/* What somebody left where the map of a process is to be written. */
typedef void planter(const char *map, const char *victim);

/* Asks a process that gives @answer, or none; returns the result. */
static int ask(const char *answer, int ms, planter *plant_map)
{
	_cleanup_directory_ char *root = test_directory();
	_cleanup_free_ char *tmp = xasprintf("%s/tmp", root), *trigger = NULL, *map = NULL;
	_cleanup_free_ char *victim = xasprintf("%s/other", root);
	struct hotspot_target t;
	sigset_t quit, before;
	pid_t pid;
	int r;

	CHECK_EQ(mkdir(tmp, 0777), 0);
	(void)sigemptyset(&quit);
	(void)sigaddset(&quit, SIGQUIT);
	(void)sigprocmask(SIG_BLOCK, &quit, &before); /* as it is in the child */
	pid = fork();
	if (pid == 0)
		play(root, &quit, answer);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	t = (struct hotspot_target){ .who = { (uint32_t)pid, geteuid(), getegid() },
				     .inner = (uint32_t)pid,
				     .root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC),
				     .pidfd = (int)syscall(SYS_pidfd_open, pid, 0) };
	map = xasprintf("%s/perf-%d.map", tmp, (int)pid);
	if (plant_map)
		plant_map(map, victim);
	r = hotspot_ask(&t, clock_now_ms() + ms);
	trigger = xasprintf("%s/tmp/.attach_pid%d", root, (int)pid);
	CHECK(access(trigger, F_OK) < 0);
	(void)kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	(void)close(t.root);
	(void)close(t.pidfd);
	return r;
}

static void it_is_woken_and_asked(void)
{
	CHECK_EQ(ask("0\nCommand executed successfully\n", LONG_MS, NULL), 0);
	CHECK_EQ(ask("1\nUnknown diagnostic command\n", LONG_MS, NULL), -ENOSYS);
}

static void one_that_does_not_wake_up_is_not_waited_for(void)
{
	CHECK_EQ(ask(NULL, SHORT_MS, NULL), -ETIME);
}

static void leave_own(const char *map, const char *victim _unused_)
{
	CHECK_EQ(path_write(map, "", 0644, NULL), 0);
}

static void leave_link(const char *map, const char *victim)
{
	CHECK_EQ(path_write(victim, "", 0644, NULL), 0);
	CHECK_EQ(symlink(victim, map), 0);
}

static void leave_loose_link(const char *map, const char *victim)
{
	CHECK_EQ(symlink(victim, map), 0);
}

static void leave_second_name(const char *map, const char *victim)
{
	CHECK_EQ(path_write(victim, "", 0644, NULL), 0);
	CHECK_EQ(link(victim, map), 0);
}

/* HotSpot would follow them. */
static void a_file_that_is_not_its_map_is_not_written(void)
{
	static const char done[] = "0\nCommand executed successfully\n";

	CHECK_EQ(ask(done, LONG_MS, leave_own), 0);
	CHECK_EQ(ask(done, LONG_MS, leave_link), -EEXIST);
	CHECK_EQ(ask(done, LONG_MS, leave_loose_link), -EEXIST);
	CHECK_EQ(ask(done, LONG_MS, leave_second_name), -EEXIST);
}

static void the_socket_of_another_process_is_not_used(void)
{
	_cleanup_directory_ char *root = test_directory();
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_free_ char *tmp = xasprintf("%s/tmp", root);
	struct hotspot_target t = { .who = { (uint32_t)getppid(), geteuid(), getegid() },
				    .inner = PID,
				    .pidfd = -1 };
	int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	CHECK_EQ(mkdir(tmp, 0777), 0);
	CHECK_EQ(chdir(tmp), 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), ".java_pid%d", PID);
	CHECK_EQ(bind(server, (struct sockaddr *)&address, sizeof(address)), 0);
	CHECK_EQ(listen(server, 1), 0);
	CHECK_EQ(fchdir(here), 0);
	t.root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CHECK_EQ(hotspot_ask(&t, clock_now_ms() + LONG_MS), -EPERM);
	(void)close(t.root);
	(void)close(here);
	(void)close(server);
}

TESTS(T(only_what_catches_the_signal_is_asked), T(a_process_that_has_ended_is_not_asked),
      T(an_answer_has_a_number_first), T(it_is_woken_and_asked),
      T(one_that_does_not_wake_up_is_not_waited_for), T(the_socket_of_another_process_is_not_used),
      T(a_file_that_is_not_its_map_is_not_written))
