/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes one system call of a program fail, like a full or broken disk, and lists the calls:
 *
 *	inject -l LIST COMMAND...	runs it unchanged; LIST: one line per call
 *					"NUMBER<tab>NAME<tab>PLACE<tab>PATH"
 *	inject -c NAME -n NUMBER [-p PLACE] [-w END] [-f] -e ERRNO COMMAND...	that call fails and
 *					does nothing; with -f all later ones, too, at any place:
 *					for mmap, which then represents all allocation of memory
 *
 * NUMBER counts the calls with one name, or with -p those at one place, or with -w those with a
 * path that ends with END (also with -f, no others fail then). PLACE identifies a call
 * site: a hash of apparent return addresses into the program on top of the stack, 0 for those of
 * the dynamic linker. Addresses are not randomised, so numbers and places of two runs are equal as
 * far as the program behaves the same. Threads and children are followed, but not into other
 * programs. Writes to event counters are left out: only one that is full refuses them. Exits as the
 * command does, or with 128 + N if signal N ended it.
 */
#include "base/mem.h"
#include "base/parse.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

/* What can fail, by which argument a path is found: -1 none. */
static const struct {
	int number;
	const char *name;
	int path;
} calls[] = {
	{ SYS_open, "open", 0 },
	{ SYS_openat, "openat", 1 },
	{ SYS_read, "read", -1 },
	{ SYS_pread64, "pread64", -1 },
	{ SYS_preadv, "preadv", -1 },
	{ SYS_getdents64, "getdents64", -1 },
	{ SYS_write, "write", -1 },
	{ SYS_pwrite64, "pwrite64", -1 },
	{ SYS_writev, "writev", -1 },
	{ SYS_pwritev, "pwritev", -1 },
	{ SYS_ftruncate, "ftruncate", -1 },
	{ SYS_fallocate, "fallocate", -1 },
	{ SYS_copy_file_range, "copy_file_range", -1 },
	{ SYS_sendfile, "sendfile", -1 },
	{ SYS_rename, "rename", 0 },
	{ SYS_renameat2, "renameat2", 1 },
	{ SYS_mkdir, "mkdir", 0 },
	{ SYS_unlink, "unlink", 0 },
	{ SYS_link, "link", 0 },
	{ SYS_symlink, "symlink", 1 },
	{ SYS_fsync, "fsync", -1 },
	{ SYS_fdatasync, "fdatasync", -1 },
	{ SYS_msync, "msync", -1 },
	{ SYS_mmap, "mmap", -1 },
	{ SYS_mremap, "mremap", -1 },
	{ SYS_brk, "brk", -1 },
	{ SYS_fstat, "fstat", -1 },
	{ SYS_newfstatat, "newfstatat", 1 },
	{ SYS_socket, "socket", -1 },
	{ SYS_socketpair, "socketpair", -1 },
	{ SYS_accept4, "accept4", -1 },
	{ SYS_bind, "bind", -1 },
	{ SYS_pipe2, "pipe2", -1 },
	{ SYS_dup, "dup", -1 },
	{ SYS_dup2, "dup2", -1 },
	{ SYS_eventfd2, "eventfd2", -1 },
	{ SYS_signalfd4, "signalfd4", -1 },
	{ SYS_timerfd_create, "timerfd_create", -1 },
	{ SYS_epoll_create1, "epoll_create1", -1 },
	{ SYS_epoll_ctl, "epoll_ctl", -1 },
	{ SYS_memfd_create, "memfd_create", -1 },
	{ SYS_inotify_init1, "inotify_init1", -1 },
	{ SYS_perf_event_open, "perf_event_open", -1 },
	{ SYS_bpf, "bpf", -1 },
	{ SYS_clone, "clone", -1 },
	{ SYS_clone3, "clone3", -1 },
};

enum { STACK = 6144, PLACES = 10 };

struct range {
	uint64_t start, end;
};

static struct {
	FILE *list;	 /* or NULL */
	size_t kind;	 /* in calls[]; of the call that fails, */
	uint64_t wanted; /* its number, 0: none */
	uint64_t place;	 /* where it is, 0: anywhere */
	const char *end; /* of its path, NULL: any path */
	bool for_good;	 /* all after it fail, too */
	char *program;	 /* path */
	uint64_t seen[ARRAY_SIZE(calls)];
	int code;
	struct range text, linker; /* code of the program, of the dynamic linker */
} run;

/* Whether calls of that kind fail together with the one that is to fail. */
static bool is_memory(size_t kind)
{
	return run.for_good && calls[run.kind].number == SYS_mmap &&
	       (calls[kind].number == SYS_mmap || calls[kind].number == SYS_mremap ||
		calls[kind].number == SYS_brk);
}

/* --- the program --- */

static void filter_calls(void)
{
	struct sock_filter code[2 * ARRAY_SIZE(calls) + 2];
	struct sock_fprog program = { .filter = code };
	size_t i, n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		if (run.wanted && i != run.kind && !is_memory(i))
			continue;
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (uint32_t)calls[i].number, 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(125);
}

static _noreturn_ void become(char **command)
{
	(void)personality(ADDR_NO_RANDOMIZE);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 || raise(SIGSTOP) != 0)
		_exit(125);
	filter_calls();
	(void)execvp(command[0], command);
	_exit(127);
}

/* --- where it is --- */

static bool holds(const struct range *r, uint64_t address)
{
	return address >= r->start && address < r->end;
}

/* The first executable mapping is the program's. */
static void find_text(pid_t pid)
{
	_cleanup_free_ char *path = xasprintf("/proc/%d/maps", (int)pid);
	FILE *f = fopen(path, "re");
	char line[512], rights[8];
	struct range r;

	run.text = run.linker = (struct range){ 0 };
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &r.start, &r.end, rights) != 3 ||
		    rights[2] != 'x')
			continue;
		if (!run.text.start)
			run.text = r;
		else if (strstr(line, "/ld-"))
			run.linker = r;
	}
	if (f)
		(void)fclose(f);
}

static uint64_t place(pid_t pid, const struct user_regs_struct *regs)
{
	uint64_t words[STACK / sizeof(uint64_t)], hash = 0;
	struct iovec to = { words, sizeof(words) }, from = { (void *)regs->rsp, sizeof(words) };
	ssize_t n = process_vm_readv(pid, &to, 1, &from, 1, 0);
	size_t i, found = 0;

	if (holds(&run.linker, regs->rip))
		return 0;
	/* Near the stack's beginning there are fewer bytes. */
	while (n < 0 && from.iov_len > 512) {
		from.iov_len /= 2;
		n = process_vm_readv(pid, &to, 1, &from, 1, 0);
	}
	for (i = 0; n > 0 && i < (size_t)n / sizeof(uint64_t) && found < PLACES; i++)
		if (holds(&run.text, words[i])) {
			hash = (hash ^ words[i]) * 0x100000001b3ULL;
			found++;
		}
	return found ? hash ^ regs->orig_rax : 0;
}

/* The path that the call is given, or its descriptor; caller frees. */
static char *path_of(pid_t pid, const struct user_regs_struct *regs, int argument)
{
	const uint64_t arguments[] = { regs->rdi, regs->rsi };
	char path[256] = "";
	struct iovec to = { path, sizeof(path) - 1 }, from;

	if (argument < 0)
		return xasprintf("fd %d", (int)regs->rdi);
	from = (struct iovec){ (void *)arguments[argument], sizeof(path) - 1 };
	while (process_vm_readv(pid, &to, 1, &from, 1, 0) < 0 && from.iov_len > 1)
		from.iov_len /= 2;
	path[strcspn(path, "\n\t")] = '\0';
	return xstrdup(path);
}

static bool is_event_counter(pid_t pid, int fd)
{
	_cleanup_free_ char *link = xasprintf("/proc/%d/fd/%d", (int)pid, fd);
	char target[32] = "";

	return readlink(link, target, sizeof(target) - 1) > 0 &&
	       !strcmp(target, "anon_inode:[eventfd]");
}

/* Whether a call with that path may be the one that fails. */
static bool is_path(const char *path)
{
	size_t length = strlen(path), end = run.end ? strlen(run.end) : 0;

	return !run.end || (length >= end && !strcmp(path + length - end, run.end));
}

/* Which program the process runs; caller frees. */
static char *program_of(pid_t pid)
{
	_cleanup_free_ char *link = xasprintf("/proc/%d/exe", (int)pid);
	char path[PATH_MAX];
	ssize_t n = readlink(link, path, sizeof(path) - 1);

	return xstrndup(path, n < 0 ? 0 : (size_t)n);
}

/* Whether the call of that kind is to fail. */
static bool is_due(size_t kind, uint64_t at)
{
	if (!run.wanted)
		return false;
	if (run.for_good && run.seen[run.kind] >= run.wanted)
		return kind == run.kind || is_memory(kind);
	if (kind != run.kind || (run.place && at != run.place))
		return false;
	return ++run.seen[kind] == run.wanted;
}

static void fail(pid_t pid, struct user_regs_struct *regs)
{
	bool is_brk = (int)regs->orig_rax == SYS_brk;

	/* Whoever asks where the end of the heap is gets an answer. Of a failure the C library
	 * takes any address below the one that it wanted, and of 0 that it has to ask. */
	if (is_brk && !regs->rdi)
		return;
	regs->orig_rax = ~0ULL;
	regs->rax = is_brk ? 0 : (uint64_t) - (int64_t)run.code;
	(void)ptrace(PTRACE_SETREGS, pid, NULL, regs);
}

static void take_call(pid_t pid)
{
	_cleanup_free_ char *program = program_of(pid), *path = NULL;
	struct user_regs_struct regs;
	uint64_t at;
	size_t i = 0;

	if (strcmp(program, run.program) != 0 || ptrace(PTRACE_GETREGS, pid, NULL, &regs) < 0)
		return;
	while (i < ARRAY_SIZE(calls) && calls[i].number != (int)regs.orig_rax)
		i++;
	if (i == ARRAY_SIZE(calls) ||
	    (calls[i].number == SYS_write && is_event_counter(pid, (int)regs.rdi)))
		return;
	at = run.list || run.place ? place(pid, &regs) : 0;
	path = path_of(pid, &regs, calls[i].path);
	if (run.list)
		(void)fprintf(run.list, "%" PRIu64 "\t%s\t%" PRIx64 "\t%s\n", ++run.seen[i],
			      calls[i].name, at, path);
	if (is_path(path) && is_due(i, at))
		fail(pid, &regs);
}

/* --- following it --- */

static int follow(pid_t first)
{
	const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE |
			     PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;
	int status, result = 125;
	pid_t pid;

	if (waitpid(first, &status, 0) != first || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, first, NULL, options) < 0)
		return 125;
	(void)ptrace(PTRACE_CONT, first, NULL, NULL);
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		long signal = 0;

		if (!WIFSTOPPED(status)) {
			if (pid == first)
				result = WIFEXITED(status) ? WEXITSTATUS(status)
							   : 128 + WTERMSIG(status);
			continue;
		}
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8)) {
			if (run.text.start)
				take_call(pid);
		} else if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
			if (pid == first) {
				find_text(pid);
				free(run.program);
				run.program = program_of(pid);
			}
		} else if (status >> 16 == 0 && WSTOPSIG(status) != SIGSTOP) {
			signal = WSTOPSIG(status);
		}
		(void)ptrace(PTRACE_CONT, pid, NULL, signal);
	}
	return result;
}

static size_t find_call(const char *name)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(calls) && strcmp(calls[i].name, name) != 0)
		i++;
	return i;
}

int main(int argc, char **argv)
{
	uint64_t code = 0;
	pid_t child;
	int option, result;
	bool good = true;

	while (good && (option = getopt(argc, argv, "+l:c:n:e:p:w:f")) != -1)
		if (option == 'l')
			good = (run.list = fopen(optarg, "we"));
		else if (option == 'c')
			good = (run.kind = find_call(optarg)) < ARRAY_SIZE(calls);
		else if (option == 'p')
			run.place = strtoull(optarg, NULL, 16);
		else if (option == 'f')
			run.for_good = true;
		else if (option == 'w')
			run.end = optarg;
		else
			good = option != '?' && parse_u64(optarg, 1, UINT32_MAX,
							  option == 'n' ? &run.wanted : &code) == 0;
	run.code = (int)code;
	if (!good || optind == argc)
		return 2;
	child = fork();
	if (child < 0)
		return 125;
	if (child == 0)
		become(argv + optind);
	result = follow(child);
	if (run.list)
		(void)fclose(run.list);
	return result;
}
