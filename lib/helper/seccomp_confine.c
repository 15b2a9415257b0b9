/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/seccomp_confine.h"

#include <errno.h>

#ifdef HAVE_LIBSECCOMP

#include "base/mem.h"
#include "helper/internal/seccomp_filter.h"

#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* Above all numbers of system calls, including those common to all architectures. */
enum { NUMBERS = 1024 };

/* A process is confined once; the handler's data are set before. */
static struct {
	seccomp_confine_say *say;
	char *names[NUMBERS];
	bool said[NUMBERS];
} confined;

/* The register for the result of the refused call. */
static void set_result(ucontext_t *context, long result)
{
#if defined(__x86_64__)
	context->uc_mcontext.gregs[REG_RAX] = result;
#elif defined(__aarch64__)
	context->uc_mcontext.regs[0] = (unsigned long)result;
#else
#error "where does this architecture return results?"
#endif
}

/* An argument of the refused call, of the first four. */
static uint64_t get_argument(const ucontext_t *context, int i)
{
#if defined(__x86_64__)
	static const int registers[] = { REG_RDI, REG_RSI, REG_RDX, REG_R10 };

	return (uint64_t)context->uc_mcontext.gregs[registers[i]];
#elif defined(__aarch64__)
	return context->uc_mcontext.regs[i];
#endif
}

/* Serves newfstatat(2) without a path, which is fstat(2); false if it is another call. */
static bool serve_fstat(int call, ucontext_t *context)
{
	const char *path = (const char *)get_argument(context, 1);
	long r;

	if (call != SYS_newfstatat || !(get_argument(context, 3) & AT_EMPTY_PATH) ||
	    (path && *path))
		return false;
	r = syscall(SYS_fstat, get_argument(context, 0), get_argument(context, 2));
	set_result(context, r < 0 ? -errno : r);
	return true;
}

/* Handles a refused system call: reports it and makes it fail with EPERM. */
static void on_refusal(int number _unused_, siginfo_t *info, void *context)
{
	int call = info->si_syscall, saved = errno;
	bool known = call >= 0 && call < NUMBERS;

	if (serve_fstat(call, context)) {
		errno = saved;
		return;
	}
	if (!known || !__atomic_exchange_n(&confined.said[call], true, __ATOMIC_RELAXED))
		confined.say(known && confined.names[call] ? confined.names[call] : "?", call);
	errno = saved;
	set_result(context, -EPERM);
}

static int catch_refusals(seccomp_confine_say *say, struct error *err)
{
	struct sigaction action = { .sa_sigaction = on_refusal,
				    .sa_flags = (int)(SA_SIGINFO | SA_NODEFER | SA_RESTART) };
	int i;

	confined.say = say;
	for (i = 0; i < NUMBERS; i++)
		confined.names[i] = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, i);
	return sigaction(SIGSYS, &action, NULL) < 0
		       ? error_errno(err, -errno, "cannot catch refused system calls")
		       : 0;
}

/* The number of a row's call; -1 if this machine does not have it: negative ones of libseccomp are
 * calls of other architectures. */
static int number_of(const struct seccomp_confine_call *c)
{
	int number = seccomp_syscall_resolve_name(c->name);

	return number < NUMBERS ? MAX(number, -1) : -1;
}

/* Adds all rows for the call of the first one. */
static void allow(struct seccomp_filter *f, int number, const struct seccomp_confine_call *calls,
		  size_t count)
{
	_cleanup_free_ struct seccomp_confine_call *rows = NULL;
	size_t i, n = 0, room = 0;

	for (i = 0; i < count; i++) {
		if (strcmp(calls[i].name, calls[0].name) != 0)
			continue;
		array_grow(&rows, n + 1, &room);
		rows[n++] = calls[i];
	}
	seccomp_filter_allow(f, number, rows, n);
}

/* Adds all rows; returns the number of different calls. */
static size_t allow_all(struct seccomp_filter *f, const struct seccomp_confine_call *calls,
			size_t count)
{
	bool seen[NUMBERS] = { false };
	size_t i, n = 0;

	/* With ENOSYS glibc falls back to clone, whose flags can be checked. */
	seccomp_filter_refuse(f, SCMP_SYS(clone3), ENOSYS);
	for (i = 0; i < count; i++) {
		int number = number_of(&calls[i]);

		if (number < 0 || seen[number])
			continue;
		seen[number] = true;
		n++;
		allow(f, number, calls + i, count - i);
	}
	/* Its callers have another way: kernels before 5.6 do not have it. */
	if (!seen[SYS_openat2])
		seccomp_filter_refuse(f, SCMP_SYS(openat2), ENOSYS);
	return n;
}

int seccomp_confine_enter(const struct seccomp_confine_call *calls, size_t count,
			  seccomp_confine_say *say, size_t *ret_count, struct error *err)
{
	_cleanup_(seccomp_filter_done) struct seccomp_filter filter = { 0 };
	size_t allowed = allow_all(&filter, calls, count);
	int r = catch_refusals(say, err);

	if (r < 0)
		return r;
	r = seccomp_filter_enter(&filter);
	if (r == 0 && ret_count)
		*ret_count = allowed;
	return r < 0 ? error_errno(err, r, "cannot confine this process (seccomp)") : 0;
}

bool seccomp_confine_can(void)
{
	return true;
}

#else

int seccomp_confine_enter(const struct seccomp_confine_call *calls _unused_, size_t count _unused_,
			  seccomp_confine_say *say _unused_, size_t *ret_count _unused_,
			  struct error *err)
{
	return error_set(err, -ENOTSUP, "built without libseccomp");
}

bool seccomp_confine_can(void)
{
	return false;
}

#endif
