/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf/internal/probe_perf.h"

#include "base/macro.h"
#include "file/path.h"
#include "perf/probe_result.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { RING_PAGES = 128 }; /* 512 KiB, as the drivers take for each CPU */

static int perf_open(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static struct perf_event_attr attr_of(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){
		.type = type,
		.size = sizeof(struct perf_event_attr),
		.config = config,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
		.sample_period = 1000000,
		.disabled = 1,
		.exclude_hv = 1,
	};
}

/* Reports that perf_event_open() failed with @error, with the remedy. */
static void say_refused(int error, const char *remedy, struct probe_result *ret)
{
	ret->verdict = PROBE_MISSING;
	(void)snprintf(ret->detail, sizeof(ret->detail), "perf_event_open: %s (%s)",
		       strerror(error), strerrorname_np(error));
	if (error == ENOSYS)
		remedy = "use a kernel with CONFIG_PERF_EVENTS";
	(void)snprintf(ret->remedy, sizeof(ret->remedy), "%s", remedy);
}

void probe_own_process(const char *root _unused_, struct probe_result *ret)
{
	struct perf_event_attr attr = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	_cleanup_close_ int fd = -1;

	attr.exclude_kernel = 1;
	fd = perf_open(&attr, 0, -1);
	if (fd < 0) {
		say_refused(errno,
			    "sysctl kernel.perf_event_paranoid=2; in a container also allow "
			    "perf_event_open in its seccomp profile",
			    ret);
		return;
	}
	(void)snprintf(ret->detail, sizeof(ret->detail), "an event on this process opens");
}

void probe_system_wide(const char *root _unused_, struct probe_result *ret)
{
	struct perf_event_attr attr = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	_cleanup_close_ int fd = -1;

	attr.exclude_idle = 1;
	fd = perf_open(&attr, -1, MAX(sched_getcpu(), 0));
	if (fd < 0) {
		/* Root lacks the right in a container only. */
		say_refused(errno,
			    geteuid() == 0
				    ? "start the container with --cap-add=PERFMON"
				    : "run as root, or with CAP_PERFMON, or sysctl "
				      "kernel.perf_event_paranoid=0; in a container the right is "
				      "given to the container (--cap-add=PERFMON)",
			    ret);
		return;
	}
	(void)snprintf(ret->detail, sizeof(ret->detail), "an event on a whole CPU opens");
}

void probe_hardware_event(const char *root _unused_, struct probe_result *ret)
{
	struct perf_event_attr attr = attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	_cleanup_close_ int fd = -1;
	bool no_pmu;

	attr.exclude_kernel = 1;
	fd = perf_open(&attr, 0, -1);
	if (fd >= 0) {
		(void)snprintf(ret->detail, sizeof(ret->detail), "the CPU's cycle counter opens");
		return;
	}
	no_pmu = errno == ENOENT || errno == EOPNOTSUPP || errno == ENODEV;
	say_refused(errno, "see own-process", ret);
	if (!no_pmu)
		return;
	ret->verdict = PROBE_WARN;
	(void)snprintf(ret->remedy, sizeof(ret->remedy),
		       "none needed: the clock samples instead (timer mode); a virtual machine has "
		       "counters only if its host exposes a PMU");
}

void probe_mlock(const char *root, struct probe_result *ret)
{
	struct perf_event_attr attr = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	size_t size = (RING_PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
	struct rlimit limit = { 0 };
	uint64_t allowed_kb = 0;
	_cleanup_close_ int fd = -1;
	void *ring;

	(void)path_read_u64(root, "/proc/sys/kernel/perf_event_mlock_kb", &allowed_kb);
	(void)getrlimit(RLIMIT_MEMLOCK, &limit);
	attr.exclude_kernel = 1;
	fd = perf_open(&attr, 0, -1);
	if (fd < 0) {
		say_refused(errno, "see own-process", ret);
		return;
	}
	ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED) {
		ret->verdict = PROBE_WARN;
		(void)snprintf(ret->remedy, sizeof(ret->remedy),
			       "sysctl kernel.perf_event_mlock_kb=%d or a higher ulimit -l; until "
			       "then smaller rings are used",
			       RING_PAGES * 4 + 4);
	} else {
		(void)munmap(ring, size);
	}
	(void)snprintf(
		ret->detail, sizeof(ret->detail),
		"a ring of %zu KiB %s (perf_event_mlock_kb %" PRIu64 ", ulimit -l %" PRIu64 " KiB)",
		size >> 10, ring == MAP_FAILED ? "is refused" : "is available", allowed_kb,
		limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : (uint64_t)limit.rlim_cur >> 10);
}
