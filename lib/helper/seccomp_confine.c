/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/seccomp_confine.h"

#include <errno.h>

#ifdef HAVE_LIBSECCOMP

#include "base/mem.h"

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

/* Adds a row; 1 if its call is new, 0 if it was added before or this machine does not have it. */
static int add(scmp_filter_ctx filter, const struct seccomp_confine_call *c, bool seen[NUMBERS])
{
	int number = seccomp_syscall_resolve_name(c->name), r;
	const struct scmp_arg_cmp compare[] = {
		{ c->argument, SCMP_CMP_MASKED_EQ, c->mask, c->value },
		{ c->argument_too, SCMP_CMP_MASKED_EQ, c->mask_too, c->value_too },
	};

	/* Negative numbers are calls of other architectures. */
	if (number < 0 || number >= NUMBERS)
		return 0;
	r = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, number,
				   (unsigned int)c->limited + c->limited_too, compare);
	if (r < 0)
		return r;
	r = !seen[number];
	seen[number] = true;
	return r;
}

static int load(scmp_filter_ctx filter, const struct seccomp_confine_call *calls, size_t count,
		size_t *ret_count)
{
	bool seen[NUMBERS] = { 0 };
	size_t i, n = 0;
	int r = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);

	/* Makes libseccomp compile a binary tree instead of a list. */
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	/* With ENOSYS glibc falls back to clone, whose flags can be checked. */
	if (r == 0)
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	for (i = 0; r >= 0 && i < count; i++) {
		r = add(filter, &calls[i], seen);
		n += r > 0;
	}
	/* Its callers have another way: kernels before 5.6 do not have it. */
	if (r >= 0 && !seen[SYS_openat2])
		r = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(openat2), 0);
	if (r >= 0)
		r = seccomp_load(filter);
	if (r == 0 && ret_count)
		*ret_count = n;
	return r;
}

int seccomp_confine_enter(const struct seccomp_confine_call *calls, size_t count,
			  seccomp_confine_say *say, size_t *ret_count, struct error *err)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
	int r = filter ? catch_refusals(say, err) : -ENOMEM;

	if (r == 0)
		r = load(filter, calls, count, ret_count);
	seccomp_release(filter);
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
