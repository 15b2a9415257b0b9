/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "perf/perf_event.h"

#include "base/macro.h"
#include "perf/perf_record.h"
#include "perf/user_stack.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int open_event(const struct perf_attrs *attrs, struct perf_event_attr *attr, pid_t pid,
		      unsigned int cpu)
{
	int fd;

	if (attrs->open)
		return attrs->open(attr, pid, (int)cpu, attrs->open_data);
	fd = (int)syscall(SYS_perf_event_open, attr, pid, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* As open_event(), with as many descriptors as the hard limit allows. */
static int open_within_limit(const struct perf_attrs *attrs, struct perf_event_attr *attr,
			     pid_t pid, unsigned int cpu)
{
	struct rlimit limit;
	int fd = open_event(attrs, attr, pid, cpu);

	if (fd != -EMFILE || getrlimit(RLIMIT_NOFILE, &limit) < 0 ||
	    limit.rlim_cur == limit.rlim_max)
		return fd;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) < 0 ? fd : open_event(attrs, attr, pid, cpu);
}

/* In a ring, the reader is woken for so many at the latest: it should ask for what chains need long
 * before the ring is full of large samples. */
enum { WAKE_BYTES = 1 << 20 };

static void common_attr(const struct perf_attrs *attrs, size_t ring_bytes,
			struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
		.sample_type = PERF_RECORD_FIELDS,
		.sample_id_all = 1,
		.disabled = 1,
		.inherit = attrs->inherit,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)MIN(ring_bytes / 2, (size_t)WAKE_BYTES),
	};
}

/* The kernel reads what is probed, which @event contains, while the event is opened. */
static uint64_t config1_of(const struct event *event)
{
	return *event->probed ? (uintptr_t)event->probed : event->perf_config1;
}

static void sampling_attr(const struct perf_attrs *attrs, const struct event *event,
			  struct perf_event_attr *attr)
{
	common_attr(attrs, attrs->sample_bytes, attr);
	attr->type = event->perf_type;
	attr->config = event->perf_config;
	attr->config1 = config1_of(event);
	attr->config2 = event->perf_config2;
	attr->precise_ip = event->precise;
	attr->freq = event->rate_hz != 0;
	if (event->rate_hz)
		attr->sample_freq = event->rate_hz;
	else
		attr->sample_period = event->count;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			    (attrs->no_format_lost ? 0 : PERF_FORMAT_LOST);
	attr->exclude_kernel = !event->kernel;
	attr->exclude_hv = !event->kernel || event->no_hypervisor;
	attr->exclude_user = !event->user;
	/* The clock ticks in the idle task too: it would be most of the profile. */
	attr->exclude_idle = event->is_timer;
	attr->exclude_guest = !event->is_timer && !attrs->no_exclude_guest;
	attr->enable_on_exec = attrs->enable_on_exec;
	if (attrs->sample_cgroup)
		attr->sample_type |= PERF_SAMPLE_CGROUP;
	if (event->raw)
		attr->sample_type |= PERF_SAMPLE_RAW;
	if (!attrs->chain_depth || event->raw)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->sample_max_stack = attrs->chain_depth;
	attr->exclude_callchain_kernel = !event->kernel;
	if (!attrs->stack_bytes || attrs->no_user_stack)
		return;
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = USER_STACK_REGS;
	attr->sample_stack_user = attrs->stack_bytes;
	attr->exclude_callchain_user = 1;
}

int perf_event_open_sampling(struct perf_attrs *attrs, const struct event *event, pid_t pid,
			     unsigned int cpu)
{
	bool *const optional[] = { &attrs->no_format_lost, &attrs->no_exclude_guest,
				   &attrs->no_user_stack };
	const struct perf_attrs before = *attrs;
	struct perf_event_attr attr;
	size_t i;
	int fd;

	sampling_attr(attrs, event, &attr);
	fd = open_within_limit(attrs, &attr, pid, cpu);
	for (i = 0; i < ARRAY_SIZE(optional) && (fd == -EINVAL || fd == -EOPNOTSUPP); i++) {
		*optional[i] = true;
		sampling_attr(attrs, event, &attr);
		fd = open_within_limit(attrs, &attr, pid, cpu);
	}
	if (fd < 0)
		*attrs = before; /* it was something else */
	return fd;
}

/* An event that counts nothing: it only has records. */
static void dummy_attr(const struct perf_attrs *attrs, struct perf_event_attr *ret)
{
	common_attr(attrs, attrs->sideband_bytes, ret);
	ret->type = PERF_TYPE_SOFTWARE;
	ret->config = PERF_COUNT_SW_DUMMY;
	ret->sample_period = 1;
}

int perf_event_open_sideband(struct perf_attrs *attrs, pid_t pid, unsigned int cpu)
{
	struct perf_event_attr attr;
	int fd;

	dummy_attr(attrs, &attr);
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	/* It counts nothing, but must not ask for more than an ordinary user may have. */
	attr.exclude_kernel = attr.exclude_hv = 1;
	if (!attrs->kernel_only)
		attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
	attr.cgroup = attrs->report_cgroups;
	attr.ksymbol = !attrs->no_ksymbol;
	fd = open_within_limit(attrs, &attr, pid, cpu);
	if (fd != -EINVAL || attrs->no_ksymbol)
		return fd;
	/* Linux before 5.1 does not know it. */
	attrs->no_ksymbol = true;
	attr.ksymbol = 0;
	return open_within_limit(attrs, &attr, pid, cpu);
}

int perf_event_open_mappings(const struct perf_attrs *attrs, unsigned int cpu)
{
	struct perf_event_attr attr;

	dummy_attr(attrs, &attr);
	attr.exclude_kernel = attr.exclude_hv = 1;
	attr.mmap = attr.mmap2 = 1;
	attr.watermark = 1;
	attr.wakeup_watermark = 1;
	return open_within_limit(attrs, &attr, -1, cpu);
}

int perf_event_open_switches(const struct perf_attrs *attrs, unsigned int cpu)
{
	struct perf_event_attr attr;

	dummy_attr(attrs, &attr);
	attr.context_switch = 1;
	return open_within_limit(attrs, &attr, -1, cpu);
}

/* Of the kernel, the addresses that lead to the scheduler's caller are of interest in any case. */
enum { LEAVING_DEPTH = 32, LEAVING_STACK_BYTES = 4096 };

int perf_event_open_leaving(const struct perf_attrs *attrs, pid_t pid, unsigned int cpu)
{
	static const struct event switches = { .perf_type = PERF_TYPE_SOFTWARE,
					       .perf_config = PERF_COUNT_SW_CONTEXT_SWITCHES,
					       .count = 1,
					       .kernel = true,
					       .user = true };
	struct perf_attrs own = *attrs;

	own.chain_depth = MAX(own.chain_depth, LEAVING_DEPTH);
	own.stack_bytes = MIN(own.stack_bytes, (uint32_t)LEAVING_STACK_BYTES);
	return perf_event_open_sampling(&own, &switches, pid, cpu);
}

int perf_event_open_counting(struct perf_attrs *attrs, const struct event *event, pid_t pid,
			     unsigned int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = event->perf_type,
		.config = event->perf_config,
		.config1 = config1_of(event),
		.config2 = event->perf_config2,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.inherit = attrs->inherit,
		.enable_on_exec = attrs->enable_on_exec,
		.exclude_kernel = !event->kernel,
		.exclude_hv = !event->kernel || event->no_hypervisor,
		.exclude_user = !event->user,
		.exclude_guest = event->perf_type != PERF_TYPE_SOFTWARE && !attrs->no_exclude_guest,
	};
	int fd = open_within_limit(attrs, &attr, pid, cpu);

	if ((fd != -EINVAL && fd != -EOPNOTSUPP) || !attr.exclude_guest)
		return fd;
	attr.exclude_guest = 0;
	fd = open_within_limit(attrs, &attr, pid, cpu);
	attrs->no_exclude_guest = fd >= 0;
	return fd;
}

uint64_t perf_event_enabled_ns(int fd)
{
	struct {
		uint64_t value, enabled_ns;
	} read_out;

	return read(fd, &read_out, sizeof(read_out)) == sizeof(read_out) ? read_out.enabled_ns : 0;
}

struct perf_event_losses perf_event_lost(const struct perf_attrs *attrs, int fd)
{
	struct perf_event_losses losses = { 0 };
	struct {
		uint64_t value, enabled_ns, running_ns, lost; /* as sampling_attr() asks for */
	} read_out = { 0 };
	size_t size = sizeof(read_out) - (attrs->no_format_lost ? sizeof(read_out.lost) : 0);

	if (read(fd, &read_out, size) != (ssize_t)size)
		return losses;
	losses.counted = read_out.value;
	losses.samples = read_out.lost;
	/* A task's event on one CPU waits while the task runs on others. */
	if (!attrs->inherit && read_out.enabled_ns > read_out.running_ns)
		losses.waited_ns = read_out.enabled_ns - read_out.running_ns;
	return losses;
}
