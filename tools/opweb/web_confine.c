/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opweb/web_confine.h"

#include "base/macro.h"
#include "helper/landlock.h"
#include "helper/seccomp_confine.h"
#include "tools/common/confine.h"
#include "tools/common/confine_calls.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* What libmicrohttpd and the C library need to serve open sockets. Its own descriptors for waiting
 * are open when the list applies. */
static const struct seccomp_confine_call calls[] = {
	CONFINE_CALLS_OF_ALL,
	{ "recvfrom" },
	{ "recvmsg" },
	{ "sendto" },
	{ "sendmsg" },
	{ "accept4" },
	{ "accept" },
	{ "shutdown" },
	{ "setsockopt" },
	{ "getsockopt" },
	{ "getsockname" },
	{ "epoll_ctl" },
	{ "epoll_wait" },
	{ "epoll_pwait" },
	{ "poll" },
	{ "ppoll" },
	{ "select" },
	{ "pselect6" },
	{ "fcntl", SECCOMP_CONFINE_IS(1, F_SETFL) },
	{ "restart_syscall" },
};

/* Called in a signal handler. */
static void say_refused(const char *name, int number _unused_)
{
	static const char before[] = "opweb: the sandbox refused the system call ";

	(void)!write(STDERR_FILENO, before, sizeof(before) - 1);
	(void)!write(STDERR_FILENO, name, strlen(name));
	(void)!write(STDERR_FILENO, "\n", 1);
}

static int do_without(const struct error *why, struct error *err)
{
	if (confine_is_required())
		return error_set(err, why->code, "--sandbox: %s", why->text);
	tool_warn("the sandbox is incomplete: %s", why->text);
	return 0;
}

static int drop_capabilities(struct error *err)
{
	cap_t none = cap_init();
	int r = none && cap_set_proc(none) == 0 ? 0 : -errno;

	(void)cap_free(none);
	return r < 0 ? error_errno(err, r, "cannot drop capabilities") : 0;
}

int web_confine_enter(struct error *err)
{
	struct error why = ERROR_INIT;
	int r = drop_capabilities(err);

	if (r < 0 || SANITIZED) /* the check for leaks needs ptrace() */
		return r;
	tzset(); /* which would open a file with the first date */
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (landlock_enter_closed(&why) < 0)
		r = do_without(&why, err);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (r == 0 && seccomp_confine_enter(calls, ARRAY_SIZE(calls), say_refused, NULL, &why) < 0)
		r = do_without(&why, err);
	return r;
}
