/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls that every confined process of a tool needs (helper/seccomp_confine.h): they use
 * what is open, memory, threads, time and signals of its own.
 *
 *	static const struct seccomp_confine_call calls[] = { CONFINE_CALLS_OF_ALL, { "stat" } };
 */
#pragma once

#include "helper/seccomp_confine.h"

#include <fcntl.h>
#include <sys/mman.h>

#define CONFINE_CALLS_OF_ALL                                                                       \
	{ "read" }, { "readv" }, { "pread64" }, { "write" }, { "writev" }, { "lseek" },            \
		{ "close" }, { "fcntl", SECCOMP_CONFINE_IS(1, F_DUPFD_CLOEXEC) },                  \
		{ "fcntl", SECCOMP_CONFINE_IS(1, F_GETFD) },                                       \
		{ "fcntl", SECCOMP_CONFINE_IS(1, F_SETFD) },                                       \
		{ "fcntl", SECCOMP_CONFINE_IS(1, F_GETFL) }, { "fstat" }, { "sendfile" },          \
		{ "mmap", SECCOMP_CONFINE_WITHOUT(2, PROT_EXEC) },                                 \
		{ "mprotect", SECCOMP_CONFINE_WITHOUT(2, PROT_EXEC) }, { "mremap" }, { "munmap" }, \
		{ "madvise" }, { "brk" }, { "futex" }, { "exit" }, { "exit_group" },               \
		{ "rt_sigaction" }, { "rt_sigprocmask" }, { "rt_sigreturn" }, { "getpid" },        \
		{ "gettid" }, { "sched_yield" }, { "clock_gettime" }, { "gettimeofday" },          \
		{ "time" },                                                                        \
	{                                                                                          \
		"getrandom"                                                                        \
	}
