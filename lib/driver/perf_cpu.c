/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "driver/perf_cpu.h"

#include "base/mem.h"

#include <errno.h>
#include <sys/ioctl.h>

static int failed(const struct perf_plan *plan, int code, const char *what, unsigned int cpu,
		  struct error *err)
{
	_cleanup_free_ char *step = xasprintf("cannot %s on cpu %u", what, cpu);

	return perf_plan_explain(plan, code, step, err);
}

/* Maps the ring of @fd, halving *@bytes while that is too much for the kernel. */
static int map_ring(struct ring *ring, int fd, size_t *bytes)
{
	size_t least = (size_t)sysconf(_SC_PAGESIZE);
	int r = ring_map(ring, fd, *bytes);

	while ((r == -EPERM || r == -ENOMEM) && *bytes > least) {
		*bytes /= 2;
		r = ring_map(ring, fd, *bytes);
	}
	return r;
}

/* The first event's ring becomes that of all, or @fd joins it. */
static int join_ring(struct ring *ring, int fd, int owner, size_t *bytes)
{
	if (!ring->page)
		return map_ring(ring, fd, bytes);
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, owner) < 0 ? -errno : 0;
}

static int open_source(struct perf_cpu *c, unsigned int counter, struct perf_plan *plan, pid_t pid)
{
	struct perf_source *s = &c->sources[c->source_count];
	int r, fd = perf_event_open_sampling(&plan->attrs, &plan->events[counter], pid, c->cpu);

	if (fd < 0)
		return fd;
	*s = (struct perf_source){ .fd = fd, .counter = counter };
	c->source_count++;
	r = join_ring(&c->samples, fd, c->sources[0].fd, &plan->attrs.sample_bytes);
	if (r == 0 && ioctl(fd, PERF_EVENT_IOC_ID, &s->id) < 0)
		r = -errno;
	return r;
}

static int open_sideband(struct perf_cpu *c, struct perf_plan *plan, pid_t pid)
{
	int fd = perf_event_open_sideband(&plan->attrs, pid, c->cpu);

	if (fd < 0)
		return fd;
	c->sideband_fds[c->sideband_count++] = fd;
	return join_ring(&c->sideband, fd, c->sideband_fds[0], &plan->attrs.sideband_bytes);
}

static int open_target(struct perf_cpu *c, struct perf_plan *plan, pid_t pid, struct error *err)
{
	unsigned int i;
	int r = open_sideband(c, plan, pid);

	if (r < 0)
		return failed(plan, r, "follow mmap, exec, fork and exit", c->cpu, err);
	for (i = 0; i < plan->count; i++) {
		r = open_source(c, i, plan, pid);
		if (r < 0)
			return failed(plan, r, "open the events and their ring", c->cpu, err);
	}
	return 0;
}

int perf_cpu_open(struct perf_cpu *ret, unsigned int cpu, struct perf_plan *plan,
		  const struct perf_targets *targets, struct error *err)
{
	struct perf_cpu c = { .cpu = cpu };
	size_t i, opened = 0;
	int r;

	c.sources = xcalloc(targets->count * plan->count, sizeof(*c.sources));
	c.sideband_fds = xcalloc(targets->count, sizeof(*c.sideband_fds));
	for (i = 0; i < targets->count; i++) {
		r = open_target(&c, plan, targets->pids[i], err);
		/* A thread may end while we go through them. */
		if (r == -ESRCH && targets->count > 1)
			continue;
		if (r < 0) {
			perf_cpu_close(&c);
			return r;
		}
		opened++;
	}
	if (!opened) {
		perf_cpu_close(&c);
		return failed(plan, -ESRCH, "open the events", cpu, err);
	}
	*ret = c;
	return 0;
}

void perf_cpu_close(struct perf_cpu *c)
{
	size_t i;

	ring_done(&c->samples);
	ring_done(&c->sideband);
	for (i = 0; i < c->source_count; i++)
		(void)close(c->sources[i].fd);
	for (i = 0; i < c->sideband_count; i++)
		(void)close(c->sideband_fds[i]);
	free(c->sources);
	free(c->sideband_fds);
	*c = (struct perf_cpu){ 0 };
}

static int enable(int fd, bool on)
{
	return ioctl(fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0) < 0 ? -errno : 0;
}

int perf_cpu_enable_sideband(struct perf_cpu *c, bool on)
{
	int r, failure = 0;
	size_t i;

	for (i = 0; i < c->sideband_count; i++) {
		r = enable(c->sideband_fds[i], on);
		failure = r < 0 ? r : failure;
	}
	return failure;
}

int perf_cpu_enable_samples(struct perf_cpu *c, bool on)
{
	int r, failure = 0;
	size_t i;

	for (i = 0; i < c->source_count; i++) {
		r = enable(c->sources[i].fd, on);
		failure = r < 0 ? r : failure;
	}
	return failure;
}

void perf_cpu_read_lost(struct perf_cpu *c, const struct perf_plan *plan)
{
	size_t i;

	c->lost_read = 0;
	for (i = 0; i < c->source_count; i++)
		c->lost_read += perf_event_lost(&plan->attrs, c->sources[i].fd);
}

uint64_t perf_cpu_lost(const struct perf_cpu *c)
{
	return MAX(c->lost_recorded, c->lost_read);
}

struct perf_source *perf_cpu_source(struct perf_cpu *c, uint64_t id)
{
	size_t low = 0, high = c->source_count, middle;

	/* The kernel numbers events in the order of their opening. */
	while (low < high) {
		middle = (low + high) / 2;
		if (c->sources[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->source_count && c->sources[low].id == id ? &c->sources[low] : NULL;
}
