/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/common/target.h"

#include "base/mem.h"
#include "file/path.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127, EXIT_SIGNAL = 128 };

/* Routes signals to target->signals. SIGINT counts even if it was ignored, as shells do for
 * background jobs. */
static int take_signals(struct target *target, struct error *err)
{
	const struct sigaction by_default = { .sa_handler = SIG_DFL };
	sigset_t wanted;

	(void)sigemptyset(&wanted);
	(void)sigaddset(&wanted, SIGINT);
	(void)sigaddset(&wanted, SIGTERM);
	(void)sigaddset(&wanted, SIGHUP);
	(void)sigaddset(&wanted, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &wanted, &target->mask);
	(void)sigaction(SIGINT, &by_default, &target->interrupt);
	target->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	return target->signals < 0 ? error_errno(err, -errno, "cannot set up signal handling") : 0;
}

/* 0 if @path can be executed, else -errno. */
static int check_executable(const char *path)
{
	struct stat st;

	if (access(path, X_OK) < 0)
		return -errno;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? 0 : -EACCES;
}

int target_find_command(const char *name, char **ret)
{
	_cleanup_free_ char *path = xstrdup(getenv("PATH") ?: "/bin:/usr/bin");
	char *rest = path, *directory;
	int r = -ENOENT;

	if (strchr(name, '/')) {
		r = check_executable(name);
		if (r == 0)
			*ret = xstrdup(name);
		return r;
	}
	while (r && (directory = strsep(&rest, ":"))) {
		_cleanup_free_ char *full = path_join(*directory ? directory : ".", name);
		int one = check_executable(full);

		/* As in shells, a file that cannot be seen does not exist. */
		if (one == 0 || (one == -EACCES && access(full, F_OK) == 0))
			r = one;
		if (one == 0) {
			*ret = STEAL(full);
			break;
		}
	}
	return r;
}

/* Reports, as a shell would, that the command could not be started. */
static int not_started(struct target *target, int code, struct error *err)
{
	target->exit_status = code == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
	if (code == -ENOENT && !strchr(target->name, '/'))
		return error_set(err, code, "%s: command not found", target->name);
	return error_errno(err, code, "%s", target->name);
}

/* Runs in the child: waits for the release, then executes the command. */
_noreturn_ static void run_child(const struct target *target, int go, int failed, char **command)
{
	int code;
	char byte;

	if (read(go, &byte, 1) != 1)
		_exit(EXIT_CANNOT_RUN);
	(void)sigaction(SIGINT, &target->interrupt, NULL);
	(void)sigprocmask(SIG_SETMASK, &target->mask, NULL);
	(void)!nice(target->raised);
	(void)execvp(command[0], command);
	code = errno;
	(void)!write(failed, &code, sizeof(code));
	_exit(EXIT_CANNOT_RUN);
}

int target_command(struct target *target, char **command, struct error *err)
{
	int go[2], failed[2], r;

	target->name = command[0];
	r = target_find_command(command[0], &target->path);
	if (r < 0)
		return not_started(target, r, err);
	if ((r = take_signals(target, err)) < 0)
		return r;
	if (pipe2(go, O_CLOEXEC) < 0)
		return error_errno(err, -errno, "cannot create a pipe");
	if (pipe2(failed, O_CLOEXEC) < 0) {
		r = -errno;
		(void)close(go[0]);
		(void)close(go[1]);
		return error_errno(err, r, "cannot create a pipe");
	}
	target->pid = fork();
	if (target->pid == 0) {
		(void)close(go[1]);
		run_child(target, go[0], failed[1], command);
	}
	r = -errno;
	(void)close(go[0]);
	(void)close(failed[1]);
	target->go = go[1];
	target->failed = failed[0];
	return target->pid < 0 ? error_errno(err, r, "cannot start a process") : 0;
}

/* Opens a descriptor of the process, which polls readable when it ends; or -errno. */
static int open_process(pid_t pid, struct error *err)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), r = fd < 0 ? -errno : fd;

	/* EINVAL: it is a thread, not the first of its process. ENOENT: the same, newer kernels. */
	if (r == -EINVAL || r == -ENOENT)
		return error_set(err, r, "%d is a thread; --pid takes a process", pid);
	if (r == -ESRCH)
		return error_set(err, r, "no process %d", pid);
	return r < 0 ? error_errno(err, r, "process %d", pid) : r;
}

/* Allows one descriptor a process, as far as that may be. */
static void allow_descriptors(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	files.rlim_cur = files.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &files);
}

int target_processes(struct target *target, const pid_t *pids, size_t count, struct error *err)
{
	size_t i;

	target->pid = pids[0];
	target->others = pids + 1;
	target->other_count = count - 1;
	target->processes = epoll_create1(EPOLL_CLOEXEC);
	if (target->processes < 0)
		return error_errno(err, -errno, "cannot create an epoll instance");
	allow_descriptors();
	for (i = 0; i < count; i++) {
		int fd = open_process(pids[i], err);
		struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
		bool is_gone = fd == -ESRCH && target->may_be_gone;

		if (fd < 0 && (!is_gone || (i == count - 1 && !target->running)))
			return fd;
		target->running += fd >= 0;
		if (fd >= 0)
			(void)epoll_ctl(target->processes, EPOLL_CTL_ADD, fd, &event);
	}
	return take_signals(target, err);
}

int target_system(struct target *target, struct error *err)
{
	return take_signals(target, err);
}

/* Releases the child; 0 or -errno. */
static int let_go(const struct target *target)
{
	/* It may have been killed while it waited. */
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	int r = write(target->go, "", 1) == 1 ? 0 : -errno;

	(void)signal(SIGPIPE, before);
	return r;
}

int target_release(struct target *target, struct error *err)
{
	int code = 0, held = let_go(target);
	ssize_t got;

	(void)close(STEAL_FD(target->go));
	/* Ends without a byte when the exec closes it. */
	do {
		got = read(target->failed, &code, sizeof(code));
	} while (got < 0 && errno == EINTR);
	(void)close(STEAL_FD(target->failed));
	if (held < 0)
		return not_started(target, held, err);
	return got == sizeof(code) ? not_started(target, -code, err) : 0;
}

/* Collects the command's status if it has ended. */
static void reap(struct target *target)
{
	struct rusage usage;

	if (target->reaped || wait4(target->pid, &target->status, WNOHANG, &usage) != target->pid)
		return;
	target->reaped = true;
	target->cpu_ns = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
			 (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

/* A signal from the keyboard goes to the whole foreground group, which includes the command; one
 * sent to the tool alone is meant for both. */
static void pass_on(const struct target *target, const struct signalfd_siginfo *info)
{
	bool of_keyboard = info->ssi_code == SI_KERNEL;

	if (!of_keyboard && !target->reaped)
		(void)kill(target->pid, (int)info->ssi_signo);
}

/* Returns whether all of the target's processes have exited. */
static bool have_exited(struct target *target)
{
	struct epoll_event event;

	while (target->running && epoll_wait(target->processes, &event, 1, 0) == 1) {
		(void)close(event.data.fd);
		target->running--;
	}
	return !target->running;
}

bool target_ended(struct target *target)
{
	struct signalfd_siginfo info;

	while (read(target->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		if (target->kind == TARGET_COMMAND)
			pass_on(target, &info);
		else
			target->ended = true;
	}
	if (target->kind == TARGET_COMMAND) {
		reap(target);
		target->ended = target->reaped;
	} else if (target->kind == TARGET_PROCESS) {
		target->ended |= have_exited(target);
	}
	return target->ended;
}

void target_stop(struct target *target)
{
	if (target->kind != TARGET_COMMAND || target_ended(target))
		return;
	target->stopped = true;
	(void)kill(target->pid, SIGTERM);
}

void target_wait(struct target *target)
{
	struct pollfd fd = { .fd = target->signals, .events = POLLIN };

	while (target->kind == TARGET_COMMAND && !target_ended(target))
		(void)poll(&fd, 1, -1);
}

/* Whether target_stop() killed the command. */
static bool was_stopped(const struct target *target)
{
	return target->stopped && WIFSIGNALED(target->status) &&
	       WTERMSIG(target->status) == SIGTERM;
}

int target_exit_status(const struct target *target, int result)
{
	int status = 0;

	if (target->exit_status)
		return target->exit_status;
	if (target->reaped && !was_stopped(target))
		status = WIFSIGNALED(target->status) ? EXIT_SIGNAL + WTERMSIG(target->status)
						     : WEXITSTATUS(target->status);
	return status == 0 && result < 0 ? TOOL_FAILURE : status;
}

void target_done(struct target *target)
{
	bool waits = target->go >= 0;

	free(STEAL(target->path));
	cleanup_closep(&target->go);
	cleanup_closep(&target->failed);
	cleanup_closep(&target->signals);
	cleanup_closep(&target->processes);
	if (waits && target->pid > 0)
		(void)waitpid(target->pid, NULL, 0);
}
