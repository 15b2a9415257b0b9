/* SPDX-License-Identifier: GPL-2.0-or-later */
/* confined OUTPUT OTHER [SESSION]: enters the sandbox of the report tools as a tool that writes in
 * the directory OUTPUT would, and then does what a parser that was taken over could try. Prints a
 * line for each attempt that succeeds, and the number of attempts. OTHER is a directory of the same
 * user, with the files 'victim', 'program' and 'secret'. With SESSION, of another user, it takes on
 * that user's rights, and writes nowhere but to standard output. */
#include "base/macro.h"
#include "file/owner.h"
#include "tools/common/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

/* Where the attempts start: a directory that may be written, one that may not, another process, and
 * a descriptor that a careless program left open. */
static struct {
	const char *output, *other;
	pid_t process;
	int inherited;
} scene;

/* Paths below both directories; valid until the next call. */
static const char *in_output(const char *name)
{
	static char path[4096];

	(void)snprintf(path, sizeof(path), "%s/%s", scene.output, name);
	return path;
}

static const char *in_other(const char *name)
{
	static char path[4096];

	(void)snprintf(path, sizeof(path), "%s/%s", scene.other, name);
	return path;
}

static const char *of_process(pid_t pid, const char *name)
{
	static char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return path;
}

static int reopen(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd >= 0)
		(void)close(fd);
	return fd;
}

/* A file that runs as its owner, for everybody who reaches the output. */
static int set_user_id(void)
{
	struct stat st;

	return open(in_output("setuid"), O_WRONLY | O_CREAT | O_CLOEXEC, 06755) < 0 ||
			       stat(in_output("setuid"), &st) < 0 || !(st.st_mode & 06000)
		       ? -1
		       : 0;
}

static int set_user_id_at(void)
{
	struct stat st;

	return openat(AT_FDCWD, in_output("setuid2"), O_WRONLY | O_CREAT | O_CLOEXEC, 06755) < 0 ||
			       stat(in_output("setuid2"), &st) < 0 || !(st.st_mode & 06000)
		       ? -1
		       : 0;
}

/* The same by a call whose mode is in memory, where no filter reads it. */
static int set_user_id_indirectly(void)
{
	const uint64_t how[3] = { O_WRONLY | O_CREAT | O_CLOEXEC, 06755, 0 };

	return (int)syscall(SYS_openat2, AT_FDCWD, in_output("setuid3"), how, sizeof(how));
}

static int change_mode(void)
{
	return chmod(in_other("victim"), 04777);
}

static int change_mode_of_file(void)
{
	int fd = open(in_other("victim"), O_RDONLY | O_CLOEXEC);

	return fd < 0 ? fd : fchmod(fd, 04777);
}

static int change_owner(void)
{
	return chown(in_other("victim"), geteuid(), getegid());
}

static int change_times(void)
{
	return utimensat(AT_FDCWD, in_other("victim"), NULL, 0);
}

static int write_file(void)
{
	return reopen(in_other("victim"), O_WRONLY);
}

static int remove_file(void)
{
	return unlink(in_other("victim"));
}

static int link_file(void)
{
	return link(in_other("victim"), in_output("linked"));
}

static int move_file(void)
{
	return rename(in_other("victim"), in_output("moved"));
}

static int run_program(void)
{
	char *const arguments[] = { (char *)"program", NULL };

	return execve(in_other("program"), arguments, NULL);
}

static int make_code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			       MAP_FAILED
		       ? -1
		       : 0;
}

static int change_own_code(void)
{
	return reopen("/proc/self/mem", O_RDWR);
}

static int open_memory(void)
{
	return reopen(of_process(scene.process, "mem"), O_RDONLY);
}

static int read_memory(void)
{
	char byte;
	struct iovec here = { &byte, 1 }, there = { &scene, 1 };

	return (int)process_vm_readv(scene.process, &here, 1, &there, 1, 0);
}

static int trace(void)
{
	return (int)ptrace(PTRACE_SEIZE, scene.process, 0, 0);
}

static int signal_process(void)
{
	return kill(scene.process, 0);
}

static int signal_thread(void)
{
	return (int)syscall(SYS_tgkill, scene.process, scene.process, 0);
}

/* The kernel then sends the signal, with the rights of this user. */
static int signal_by_descriptor(void)
{
	return fcntl(STDOUT_FILENO, F_SETOWN, scene.process);
}

/* Whoever opens the file waits. */
static int take_lease(void)
{
	int fd = open(in_other("victim"), O_RDONLY | O_CLOEXEC);

	return fd < 0 ? fd : fcntl(fd, F_SETLEASE, F_RDLCK);
}

static int type_on_terminal(void)
{
	return ioctl(STDOUT_FILENO, TIOCSTI, "x") == 0 || errno != EPERM ? 0 : -1;
}

/* The kernel ignores the upper half of the number. */
static int type_by_large_number(void)
{
	return syscall(SYS_ioctl, STDOUT_FILENO, 1ULL << 32 | TIOCSTI, "x") == 0 || errno != EPERM
		       ? 0
		       : -1;
}

static int paste_on_console(void)
{
	return ioctl(STDOUT_FILENO, TIOCLINUX, "\3") == 0 || errno != EPERM ? 0 : -1;
}

static int connect_locally(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

static int connect_far(void)
{
	return socket(AF_INET, SOCK_DGRAM, 0);
}

static int use_inherited(void)
{
	return (int)write(scene.inherited, "x", 1);
}

static int raise_limit(void)
{
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };

	return setrlimit(RLIMIT_CPU, &none);
}

static int dump_core(void)
{
	return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static int start_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid;
}

static const struct {
	const char *name;
	int (*attempt)(void); /* < 0: refused */
} attempts[] = {
	{ "create a set-user-id file", set_user_id },
	{ "create one by openat()", set_user_id_at },
	{ "create one by openat2()", set_user_id_indirectly },
	{ "change the mode of a file", change_mode },
	{ "change the mode of an open file", change_mode_of_file },
	{ "change the owner of a file", change_owner },
	{ "change the times of a file", change_times },
	{ "write a file", write_file },
	{ "link a file", link_file },
	{ "move a file", move_file },
	{ "remove a file", remove_file },
	{ "run a program", run_program },
	{ "make code", make_code },
	{ "change the own code", change_own_code },
	{ "open another process's memory", open_memory },
	{ "read another process's memory", read_memory },
	{ "trace another process", trace },
	{ "signal another process", signal_process },
	{ "signal another process's thread", signal_thread },
	{ "let a descriptor signal another process", signal_by_descriptor },
	{ "take a lease", take_lease },
	{ "type on the terminal", type_on_terminal },
	{ "type by a larger number", type_by_large_number },
	{ "paste on the console", paste_on_console },
	{ "use a local socket", connect_locally },
	{ "use the network", connect_far },
	{ "use an inherited descriptor", use_inherited },
	{ "raise its limits", raise_limit },
	{ "dump its memory", dump_core },
	{ "start a process", start_process },
};

/* With SESSION only: there is a way back to root for who writes in a directory. */
static int read_as_root(void)
{
	(void)setfsuid(0);
	(void)setfsgid(0);
	return reopen(in_other("secret"), O_RDONLY);
}

static pid_t start_victim(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		pause();
	}
	return pid;
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct confine c = { .writable = { argc == 3 ? argv[1] : NULL } };
	size_t i;
	int r;

	if (argc != 3 && argc != 4)
		return 2;
	scene.output = argv[1];
	scene.other = argv[2];
	scene.process = start_victim();
	scene.inherited = dup(STDOUT_FILENO);
	r = argc == 4 ? owner_become(argv[3], OWNER_EXCEPT_OUTPUT, NULL, &err) : 0;
	if (r == 0)
		r = confine_enter(&c, &err);
	if (r < 0)
		(void)fprintf(stderr, "%s\n", err.text);
	if (r != 0) {
		(void)kill(scene.process, SIGKILL);
		(void)waitpid(scene.process, NULL, 0);
		return r < 0 ? 1 : c.status;
	}
	for (i = 0; i < ARRAY_SIZE(attempts); i++)
		if (attempts[i].attempt() >= 0)
			printf("could %s\n", attempts[i].name);
	if (argc == 4 && read_as_root() >= 0)
		puts("could read as root");
	printf("%zu attempts\n", i);
	return 0;
}
