/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "seccomp_list.h"

#include "base/log.h"
#include "helper/niceness.h"
#include "helper/seccomp_confine.h"
#include "logfile.h"

#include <linux/bpf.h>
#include <linux/fs.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* The ioctls of perf events have the type '$'. */
enum { IOCTL_TYPE = 0xff00, IOCTL_PERF = 0x2400 };

/* Names of all architectures; those that this one does not have are skipped. */
static const struct seccomp_confine_call calls[] = {
	/* Memory: never code. */
	{ "brk" },
	{ "madvise" },
	{ "mmap", SECCOMP_CONFINE_WITHOUT(2, PROT_EXEC) },
	{ "mprotect", SECCOMP_CONFINE_WITHOUT(2, PROT_EXEC) },
	{ "mremap" },
	{ "msync" },
	{ "munmap" },
	/* Threads and time. */
	{ "clock_getres" }, /* for the clock of another process */
	{ "clock_gettime" },
	{ "clock_nanosleep" },
	{ "clone", SECCOMP_CONFINE_WITH(0, CLONE_THREAD) },
	{ "exit" },
	{ "exit_group" },
	{ "futex" },
	{ "getcpu" },
	{ "getpid" },
	{ "getrandom" },
	{ "gettid" },
	{ "gettimeofday" },
	{ "membarrier" },
	{ "nanosleep" },
	{ "restart_syscall" },
	{ "rseq" },
	{ "sched_getaffinity" },
	{ "sched_setscheduler", SECCOMP_CONFINE_IS(0, 0) }, /* as far as limits allow */
	{ "sched_yield" },
	{ "set_robust_list" },
	{ "set_tid_address" },
	{ "prctl", SECCOMP_CONFINE_IS(0, PR_SET_NAME) },
	/* Signals, also from a process to itself. */
	{ "rt_sigaction" },
	{ "rt_sigprocmask" },
	{ "rt_sigreturn" },
	{ "sigaltstack" },
	{ "tgkill" },
	{ "kill", SECCOMP_CONFINE_IS(1, 0) }, /* checks whether a process exists */
	/* Who we are. A thread gives up capabilities when it starts. */
	{ "capget" },
	{ "capset" },
	{ "getegid" },
	{ "geteuid" },
	{ "getgid" },
	{ "getrlimit" },
	{ "getrusage" },
	{ "getuid" },
	{ "prlimit64", SECCOMP_CONFINE_IS(2, 0) }, /* reads, does not set */
	{ "sysinfo" },
	{ "uname" },
	/* Waiting. */
	{ "epoll_create1" },
	{ "epoll_ctl" },
	{ "epoll_pwait" },
	{ "epoll_wait" },
	{ "eventfd2" },
	{ "pidfd_open" },
	{ "poll" },
	{ "ppoll" },
	{ "signalfd4" },
	{ "timer_delete" },
	{ "timer_settime" },
	{ "timerfd_create" },
	{ "timerfd_settime" },
	/* Descriptors. */
	{ "close" },
	{ "dup" },
	{ "dup2" },
	{ "dup3" },
	{ "fcntl" },
	{ "fstat" },
	{ "fsync" },
	{ "fdatasync" },
	{ "ftruncate" },
	{ "fallocate" },
	{ "fadvise64" },
	{ "lseek" },
	{ "pread64" },
	{ "preadv" },
	{ "pwrite64" },
	{ "pwritev" },
	{ "read" },
	{ "readv" },
	{ "sync_file_range" },
	{ "write" },
	{ "writev" },
	{ "ioctl", SECCOMP_CONFINE_MASKED(1, IOCTL_TYPE, IOCTL_PERF) },
	{ "ioctl", SECCOMP_CONFINE_IS(1, FS_IOC_GETVERSION) },
	{ "ioctl", SECCOMP_CONFINE_IS(1, NS_GET_PARENT) },
	{ "ioctl", SECCOMP_CONFINE_IS(1, NS_GET_OWNER_UID) },
	{ "ioctl", SECCOMP_CONFINE_IS(1, TCGETS) }, /* isatty() */
	/* Threads that one with a better priority starts: ordinary ones, and those that it waits
	 * for. The argument is an int. */
	{ "getpriority" },
	{ "setpriority", SECCOMP_CONFINE_MASKED(2, UINT32_MAX, 0) },
	{ "setpriority", SECCOMP_CONFINE_MASKED(2, UINT32_MAX, (uint32_t)NICENESS_SOON) },
	/* Files. */
	{ "access" },
	{ "faccessat" },
	{ "faccessat2" },
	{ "chmod" },
	{ "fchmod" },
	{ "fchmodat" },
	{ "fchown" },
	{ "fchownat" },
	{ "fstatfs" },
	{ "getcwd" },
	{ "getdents64" },
	{ "link" },
	{ "linkat" },
	{ "lstat" },
	{ "mkdir" },
	{ "mkdirat" },
	{ "newfstatat" },
	{ "name_to_handle_at" }, /* cgroups */
	{ "open" },
	{ "open_by_handle_at" },
	{ "openat" },
	{ "openat2" },
	{ "readlink" },
	{ "readlinkat" },
	{ "rename" },
	{ "renameat" },
	{ "renameat2" },
	{ "rmdir" },
	{ "stat" },
	{ "statfs" },
	{ "statx" },
	{ "umask" },
	{ "unlink" },
	{ "unlinkat" },
	{ "utimensat" },
	/* Sockets: control, service manager, the parser's processes. */
	{ "accept4" },
	{ "bind" },
	{ "connect" },
	{ "getsockopt" },
	{ "listen" },
	{ "recvfrom" },
	{ "recvmsg" },
	{ "sendmsg" },
	{ "sendto" },
	{ "setsockopt" },
	{ "shutdown" },
	{ "socket", SECCOMP_CONFINE_IS(0, AF_UNIX) },
	{ "socketpair", SECCOMP_CONFINE_IS(0, AF_UNIX) },
	{ "wait4" },
	/* Sampling: CPUs come and go, and tables need maps. Programs were loaded before. */
	{ "perf_event_open" },
	{ "bpf", SECCOMP_CONFINE_IS(0, BPF_MAP_CREATE) },
	{ "bpf", SECCOMP_CONFINE_IS(0, BPF_MAP_LOOKUP_ELEM) },
	{ "bpf", SECCOMP_CONFINE_IS(0, BPF_MAP_UPDATE_ELEM) },
	{ "bpf", SECCOMP_CONFINE_IS(0, BPF_MAP_DELETE_ELEM) },
	{ "bpf", SECCOMP_CONFINE_IS(0, BPF_MAP_GET_NEXT_KEY) },
	{ "bpf", SECCOMP_CONFINE_IS(0, BPF_MAP_LOOKUP_AND_DELETE_ELEM) },
	{ "bpf", SECCOMP_CONFINE_IS(0, BPF_MAP_LOOKUP_BATCH) },
	{ "bpf", SECCOMP_CONFINE_IS(0, BPF_MAP_LOOKUP_AND_DELETE_BATCH) },
	{ "bpf", SECCOMP_CONFINE_IS(0, BPF_MAP_UPDATE_BATCH) },
	{ "bpf", SECCOMP_CONFINE_IS(0, BPF_MAP_DELETE_BATCH) },
	{ "bpf", SECCOMP_CONFINE_IS(0, BPF_LINK_CREATE) },
};

/* In a signal handler: no stdio that allocates. */
static void say(const char *name, int number)
{
	char text[160];

	(void)snprintf(text, sizeof(text),
		       "oprofiled: error: system call %s (%d) was refused (seccomp); please report "
		       "this bug, and use --no-seccomp until it is fixed\n",
		       name, number);
	logfile_raw(text);
}

int seccomp_list_confine(struct error *err)
{
	size_t count = 0;
	int r = seccomp_confine_enter(calls, ARRAY_SIZE(calls), say, &count, err);

	if (r == 0)
		log_info("confined to %zu system calls", count);
	return r;
}
