/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/common/confine.h"

#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "file/owner.h"
#include "file/path.h"
#include "helper/landlock.h"
#include "helper/seccomp_confine.h"
#include "tools/common/confine_calls.h"
#include "tools/common/tool.h"

#include <asm/ioctls.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Limits of the child. Large reports take a minute of CPU time, and a tenth of the memory. */
enum { CPU_SECONDS = 600 };
#define FILE_BYTES_MAX ((rlim_t)16 << 30)
#define MEMORY_MIN     ((rlim_t)2 << 30)

static enum { BY_USER, WANTED, ALWAYS, NEVER } choice;

/* What a report needs. Which files it may write, make and remove is Landlock's part, but not modes,
 * owners and times, nor what is open already: no chmod(2) of any kind, not even as a file is made,
 * and no signal by fcntl(2), F_SETOWN. */
static const struct seccomp_confine_call calls[] = {
	CONFINE_CALLS_OF_ALL,
	{ "pwrite64" },
	{ "pwritev" },
	{ "open", SECCOMP_CONFINE_WITHOUT(2, S_ISUID | S_ISGID) },
	{ "openat", SECCOMP_CONFINE_WITHOUT(3, S_ISUID | S_ISGID) },
	{ "dup" },
	{ "fcntl", SECCOMP_CONFINE_IS(1, F_OFD_GETLK) },
	{ "fcntl", SECCOMP_CONFINE_IS(1, F_OFD_SETLK) },
	{ "stat" },
	{ "lstat" },
	{ "newfstatat" },
	{ "statx" },
	{ "statfs" },
	{ "fstatfs" },
	{ "access" },
	{ "faccessat" },
	{ "faccessat2" },
	{ "readlink" },
	{ "readlinkat" },
	{ "getdents64" },
	{ "getcwd" },
	{ "mkdir" },
	{ "mkdirat" },
	{ "rmdir" },
	{ "unlink" },
	{ "unlinkat" },
	{ "rename" },
	{ "renameat" },
	{ "renameat2" },
	{ "link" },
	{ "linkat" },
	{ "symlink" },
	{ "symlinkat" },
	{ "ftruncate" },
	{ "utimensat", SECCOMP_CONFINE_IS(1, 0) }, /* of an open file */
	{ "fsync" },
	{ "fdatasync" },
	{ "msync" }, /* opcheck --repair */
	{ "syncfs" },
	{ "copy_file_range" },
	{ "fadvise64" },
	{ "umask" },
	{ "memfd_create" },
	{ "eventfd2" }, /* for threads that run errands, which wait in poll() */
	{ "poll" },
	{ "ppoll" },
	{ "getpriority" }, /* oprofiled --replay, as the next one */
	{ "setpriority", SECCOMP_CONFINE_IS(2, 0) },
	{ "clone", SECCOMP_CONFINE_WITH(0, CLONE_THREAD) },
	{ "set_robust_list" },
	{ "rseq" },
	{ "sigaltstack" },
	{ "getuid" },
	{ "geteuid" },
	{ "getgid" },
	{ "getegid" },
	{ "setfsuid" }, /* owner_pause() */
	{ "setfsgid" },
	{ "capget" },
	{ "capset" },
	{ "prlimit64", SECCOMP_CONFINE_IS(2, 0) }, /* asks, does not set */
	{ "getrlimit" },
	{ "sched_getaffinity" },
	{ "clock_nanosleep" },
	{ "sysinfo" },
	{ "uname" },
	{ "ioctl", SECCOMP_CONFINE_IS(1, TCGETS) },
	{ "ioctl", SECCOMP_CONFINE_IS(1, TIOCGWINSZ) },
};

int confine_set(const char *arg, void *target _unused_, struct error *err)
{
	if (arg && strcmp(arg, "no") != 0)
		return error_set(err, -EINVAL, "--sandbox: '%s' is not 'no'", arg);
	choice = arg ? NEVER : ALWAYS;
	return 0;
}

bool confine_is_wanted(void)
{
	const char *variable = getenv("OPROFILE_SANDBOX");

	if (choice != BY_USER)
		return choice != NEVER;
	if (variable && (!strcmp(variable, "yes") || !strcmp(variable, "no")))
		return *variable == 'y';
	return geteuid() == 0;
}

void confine_decide(void)
{
	if (choice == BY_USER)
		choice = confine_is_wanted() ? WANTED : NEVER;
}

bool confine_is_required(void)
{
	return choice == ALWAYS;
}

/* --- limits --- */

/* The limit for the child, in seconds or bytes: ours, or a lower one that this process has. */
static rlim_t limit_of(int resource)
{
	rlim_t memory = (rlim_t)sysconf(_SC_PHYS_PAGES) * (rlim_t)sysconf(_SC_PAGESIZE);
	rlim_t most = resource == RLIMIT_CPU	 ? CPU_SECONDS
		      : resource == RLIMIT_FSIZE ? FILE_BYTES_MAX
						 : MAX(memory / 2, MEMORY_MIN);
	struct rlimit now;

	return getrlimit(resource, &now) < 0 ? most : MIN(now.rlim_cur, most);
}

/* --- the child --- */

/* Reports a system call that is missing in the table. Called in a signal handler. */
static void say_refused(const char *name, int number _unused_)
{
	static const char before[] = "the sandbox refused the system call ";

	(void)!write(STDERR_FILENO, before, sizeof(before) - 1);
	(void)!write(STDERR_FILENO, name, strlen(name));
	(void)!write(STDERR_FILENO, "\n", 1);
}

static void limit(int resource)
{
	rlim_t most = limit_of(resource);
	/* The soft limit ends a process by a signal that says why, the hard one by SIGKILL. */
	const struct rlimit both = { most, resource == RLIMIT_CPU ? most + 5 : most };

	(void)setrlimit(resource, &both);
}

static void limit_resources(void)
{
	const struct rlimit none = { 0, 0 };

	limit(RLIMIT_CPU);
	limit(RLIMIT_FSIZE);
	if (!SANITIZED) /* its shadow memory would count */
		limit(RLIMIT_DATA);
	(void)setrlimit(RLIMIT_CORE, &none);
}

/* Keeps the rights that a report by root needs, of those that it has: reading what belongs to
 * others, and the kernel's code and addresses (/proc/kcore, /proc/kallsyms), and writing in the
 * directories that Landlock allows.
 * With the rights of a session's owner (file/owner.h) it may write only as root, and must be able
 * to go back and forth. */
static int drop_capabilities(struct error *err)
{
	static const cap_value_t kept[] = { CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE, CAP_SYS_RAWIO,
					    CAP_SYSLOG,		 CAP_SETUID,	   CAP_SETGID };
	size_t count = setfsuid((uid_t)-1) == (int)geteuid() ? 4 : ARRAY_SIZE(kept);
	cap_t now = cap_get_proc(), set = cap_init();
	int r = now && set ? 0 : -errno;
	size_t i;

	for (i = 0; r == 0 && i < count; i++) {
		cap_flag_value_t may = CAP_CLEAR, has = CAP_CLEAR;

		(void)cap_get_flag(now, kept[i], CAP_PERMITTED, &may);
		(void)cap_get_flag(now, kept[i], CAP_EFFECTIVE, &has);
		(void)cap_set_flag(set, CAP_PERMITTED, 1, &kept[i], may);
		(void)cap_set_flag(set, CAP_EFFECTIVE, 1, &kept[i], has);
	}
	if (r == 0 && cap_set_proc(set) < 0)
		r = -errno;
	(void)cap_free(now);
	(void)cap_free(set);
	return r < 0 ? error_errno(err, r, "cannot drop capabilities") : 0;
}

/* Reports a part of the confinement that is missing here; an error if it was asked for. */
static int do_without(const struct error *why, struct error *err)
{
	if (confine_is_required())
		return error_set(err, why->code, "--sandbox: %s", why->text);
	tool_warn("the sandbox is incomplete: %s", why->text);
	return 0;
}

/* Allows the table's calls and, because abort() needs it, signals to this process. */
static int filter_calls(struct error *err)
{
	struct seccomp_confine_call all[ARRAY_SIZE(calls) + 1] = {
		{ "tgkill", SECCOMP_CONFINE_IS(0, (uint64_t)getpid()) }
	};

	memcpy(&all[1], calls, sizeof(calls));
	return seccomp_confine_enter(all, ARRAY_SIZE(all), say_refused, NULL, err);
}

/* The directories may be root's own, in which a session's owner cannot search. */
static int restrict_writing(const struct confine *c, struct error *err)
{
	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();

	return landlock_enter(c->writable, CONFINE_WRITABLE_MAX, err);
}

/* Closes the files that this tool did not open itself, but for the standard ones. */
static void close_inherited(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	uint64_t fd;

	while (dir && (entry = readdir(dir)))
		if (parse_u64(entry->d_name, STDERR_FILENO + 1, INT_MAX, &fd) == 0 &&
		    !(fcntl((int)fd, F_GETFD) & FD_CLOEXEC))
			(void)close((int)fd);
	if (dir)
		(void)closedir(dir);
}

static int confine_child(const struct confine *c, struct error *err)
{
	struct error why = ERROR_INIT;
	int r = 0;

	close_inherited();
	limit_resources();
	if (restrict_writing(c, &why) < 0)
		r = do_without(&why, err);
	if (r == 0 && !c->writable[0] && (r = owner_stay()) < 0)
		r = error_errno(err, r, "cannot stay the session's owner");
	if (r == 0)
		r = drop_capabilities(err);
	/* The kernel forgets it when a process changes its user. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (r < 0 || SANITIZED) /* the check for leaks needs ptrace() */
		return r;
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (filter_calls(&why) < 0)
		r = do_without(&why, err);
	return r;
}

/* --- the parent --- */

/* Adds why the signal ended the child; 0: it found no memory. */
static void add_reason(struct strbuf *text, int signal)
{
	static const char unlimited[] = "--sandbox=no has no such limit";

	if (signal == SIGXCPU)
		strbuf_addf(text, "took more than %ju s of CPU time; %s",
			    (uintmax_t)limit_of(RLIMIT_CPU), unlimited);
	else if (signal == SIGXFSZ)
		strbuf_addf(text, "wrote a file of more than %ju MiB; %s",
			    (uintmax_t)limit_of(RLIMIT_FSIZE) >> 20, unlimited);
	else if (signal == 0)
		strbuf_addf(text, "ran out of memory; its limit is %ju MiB, and %s",
			    (uintmax_t)limit_of(RLIMIT_DATA) >> 20, unlimited);
	else if (signal == SIGKILL)
		strbuf_adds(text, "was killed, perhaps because the machine ran out of memory");
	else
		strbuf_addf(text, "crashed (%s)", strsignal(signal));
}

/* Ends this process as the child was ended, if a person or a pipe did that. */
static void pass_on(int signal)
{
	static const int by_others[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(by_others); i++)
		if (signal == by_others[i])
			(void)raise(signal);
}

static int wait_for(pid_t pid, const char *reading)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	_cleanup_free_ char *image = NULL;
	struct error err = ERROR_INIT;
	int status = 0, signal;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) != MEM_EXHAUSTED)
		return WEXITSTATUS(status);
	signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	pass_on(signal);
	image = xstrndup(reading, PATH_MAX);
	if (*image && signal != SIGXFSZ) {
		text_visible(&text, image);
		strbuf_adds(&text, ": ");
	}
	strbuf_adds(&text, "the process that reads files ");
	add_reason(&text, signal);
	(void)error_set(&err, -ECHILD, "%s", strbuf_text(&text));
	(void)tool_fail(&err);
	return signal ? TOOL_FAILURE : MEM_EXHAUSTED;
}

/* Makes the directories that are missing, because Landlock needs them; notes which. */
static int make_directories(const struct confine *c, bool ret_made[CONFINE_WRITABLE_MAX],
			    struct error *err)
{
	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();
	size_t i;
	int r = 0;

	for (i = 0; i < CONFINE_WRITABLE_MAX && r == 0; i++) {
		ret_made[i] = c->writable[i] && access(c->writable[i], F_OK) < 0;
		if (ret_made[i])
			r = path_make_dirs(c->writable[i], 0777, err);
	}
	return r;
}

/* Removes those that the child left empty. */
static void remove_made(const struct confine *c, const bool made[CONFINE_WRITABLE_MAX])
{
	size_t i;

	for (i = 0; i < CONFINE_WRITABLE_MAX; i++)
		if (made[i])
			(void)rmdir(c->writable[i]);
}

int confine_enter(struct confine *c, struct error *err)
{
	bool made[CONFINE_WRITABLE_MAX] = { false };
	int ends[2] = { -1, -1 }; /* of the child, of the parent */
	void *shared;
	pid_t parent = getpid(), pid;
	int r;

	if (!confine_is_wanted())
		return 0;
	r = make_directories(c, made, err);
	if (r < 0)
		return r;
	shared = mmap(NULL, PATH_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return error_errno(err, -errno, "cannot share memory");
	if (c->serve && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_errno(err, -errno, "cannot start a process");
	(void)fflush(NULL);
	pid = fork();
	if (pid < 0)
		return error_errno(err, -errno, "cannot start a process");
	if (pid > 0) {
		(void)close(ends[0]);
		if (c->serve)
			c->serve(ends[1], c->data);
		(void)close(ends[1]);
		c->status = wait_for(pid, shared);
		(void)munmap(shared, PATH_MAX);
		remove_made(c, made);
		return 1;
	}
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(TOOL_FAILURE);
	c->reading = shared;
	(void)close(ends[1]);
	c->socket = ends[0];
	return confine_child(c, err);
}
