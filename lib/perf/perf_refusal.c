/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf/perf_refusal.h"

#include "base/mem.h"
#include "file/path.h"
#include "perf/perf_pmus.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

bool perf_refusal(int code)
{
	return code == -EACCES || code == -EPERM;
}

/* Root lacks the right in a container only. Kernels of Debian and others have levels above 2, which
 * require more. */
char *perf_refusal_right(uint64_t level)
{
	_cleanup_free_ char *self = xrealpath("/proc/self/exe");

	if (geteuid() == 0)
		return xasprintf("start the container with --cap-add=PERFMON%s",
				 level > 2 ? " --cap-add=SYS_ADMIN" : "");
	return xasprintf("run as root, or let root run 'setcap cap_perfmon%s+ep %s'",
			 level > 2 ? ",cap_sys_admin" : "", self ?: "PROGRAM");
}

/* Whether a seccomp filter checks the system calls of this process, as in most containers. */
static bool is_filtered(const char *root)
{
	_cleanup_free_ char *status = NULL;

	return path_read(root, "/proc/self/status", &status, NULL) >= 0 &&
	       strstr(status, "\nSeccomp:\t2\n");
}

/* How to get the right to do it. Caller frees. */
static char *rights_remedy(const struct perf_attempt *attempt, int code)
{
	_cleanup_free_ char *right = NULL;
	uint64_t paranoid, wanted = attempt->of_task ? 2 : 0;

	/* What the level forbids is -EACCES, except for tracepoints. */
	if (code == -EPERM && is_filtered(attempt->root))
		return xstrdup("a seccomp filter forbids perf_event_open, as in a container: start "
			       "the container with --cap-add=PERFMON, or a seccomp profile that "
			       "allows it (--security-opt seccomp=FILE)");
	/* A negative level does not parse, and forbids nothing. */
	if (path_read_u64(attempt->root, "/proc/sys/kernel/perf_event_paranoid", &paranoid) < 0)
		paranoid = 0;
	if (attempt->of_probe)
		return xstrdup("a probe in a file takes CAP_SYS_ADMIN, one in the kernel "
			       "CAP_PERFMON: run operf or ocount as root");
	right = perf_refusal_right(paranoid > wanted ? paranoid : 0);
	if (paranoid > wanted)
		return xasprintf("kernel.perf_event_paranoid is %" PRIu64
				 ": %s, or sysctl kernel.perf_event_paranoid=%" PRIu64,
				 paranoid, right, wanted);
	if (geteuid() == 0)
		return xasprintf("root lacks the right here: %s", right);
	return xasprintf("the process belongs to another user: %s", right);
}

/* What helps against @code; NULL if nothing is known. Caller frees. */
static char *remedy_for(const struct perf_attempt *attempt, int code)
{
	static const struct {
		int code;
		const char *remedy;
	} remedies[] = {
		{ -EMFILE, "too many descriptors: raise the limit (ulimit -n)" },
		{ -ENFILE, "too many descriptors in the whole system: sysctl fs.file-max" },
		{ -ENOSYS, "this kernel was built without perf events (CONFIG_PERF_EVENTS)" },
		{ -EBUSY, "the counter is in use: stop the other profiler" },
		{ -ENOENT, "this machine does not support the event" },
		{ -ENODEV, "this machine does not support the event" },
		{ -EOPNOTSUPP, "the counter cannot interrupt: sample by the clock (event TIMER)" },
	};
	size_t i;

	if (perf_refusal(code))
		return rights_remedy(attempt, code);
	if (code == -EBUSY && perf_pmus_watchdog(attempt->root))
		return xstrdup("the NMI watchdog uses the counter: sysctl kernel.nmi_watchdog=0");
	for (i = 0; i < ARRAY_SIZE(remedies); i++)
		if (remedies[i].code == code)
			return xstrdup(remedies[i].remedy);
	return NULL;
}

int perf_refusal_explain(const struct perf_attempt *attempt, int code, struct error *err)
{
	_cleanup_free_ char *remedy = remedy_for(attempt, code);

	if (!remedy)
		return error_errno(err, code, "%s", attempt->step);
	return error_set(err, code, "%s: %s: %s", attempt->step, strerror(-code), remedy);
}
