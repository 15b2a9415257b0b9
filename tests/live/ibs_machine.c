/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulates a machine with AMD's instruction-based sampling: its PMUs are those of
 * tests/fixtures/machines, and its samples are the register dumps below, written into the rings of
 * the driver "perf" as the kernel does, at functions of this program. The rest is the ordinary
 * code.
 *
 *	ibs_machine ROOT SESSION EVENTS [STREAM]
 *
 * prints the extended feature that EVENTS ask for.
 */
#include "base/mem.h"
#include "perf/perf_record.h"
#include "event/evderived.h"
#include "event/event.h"
#include "collect/collector.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#define BIT(n) (1ULL << (n))

enum { RING_BYTES = 1 << 16, PMU_FETCH = 10, PMU_OP = 11 };

/* Where samples fall: functions that nobody calls, each a few instructions long. */
#define PLACE(name)                                                                                \
	__attribute__((noinline, used)) static void name(volatile int *at)                         \
	{                                                                                          \
		*at += __LINE__;                                                                   \
	}
PLACE(place_of_loads)
PLACE(place_of_stores)
PLACE(place_of_branches)
PLACE(place_of_fetches)

typedef void place_fn(volatile int *at);

/* A sample, and how often it comes: the control register but for what makes it valid, then of ops
 * data 1 to 3. As of Zen 4, whose sources of data have other numbers. */
static const struct dump {
	uint32_t pmu;
	unsigned int times;
	place_fn *place; /* NULL: the kernel */
	uint64_t control, data[3];
} dumps[] = {
#define LATENCY(cycles) ((uint64_t)(cycles) << 32)
#define LOAD_MISS	(BIT(0) | BIT(7))
	/* from memory of the own node, of another; a remote cache; the neighbouring L3 cache */
	{ PMU_OP, 3, place_of_loads, 0, { 9 << 16 | 5, 3, LOAD_MISS | BIT(17) | LATENCY(200) } },
	{ PMU_OP, 1, place_of_loads, 0, { 0, 3 | BIT(4), LOAD_MISS | LATENCY(300) } },
	{ PMU_OP, 2, place_of_loads, 0, { 0, 5, LOAD_MISS | LATENCY(150) } },
	{ PMU_OP, 4, place_of_loads, 0, { 0, 1, LOAD_MISS | LATENCY(40) } },
	/* misaligned */
	{ PMU_OP, 2, place_of_stores, 0, { 0, 0, BIT(1) | BIT(8) | BIT(17) } },
	/* mispredicted and taken; a return */
	{ PMU_OP, 3, place_of_branches, 0, { BIT(35) | BIT(36) | BIT(37), 0, 0 } },
	{ PMU_OP, 1, place_of_branches, 0, { BIT(34) | BIT(37), 0, 0 } },
	/* the address is not valid; nothing is */
	{ PMU_OP, 1, place_of_branches, 0, { BIT(37) | BIT(38), 0, 0 } },
	{ PMU_OP, 1, place_of_branches, BIT(18), { BIT(37), 0, 0 } },
	{ PMU_OP, 2, NULL, 0, { 0, 0, 0 } },
	/* from a page of 4 KiB; a miss, its page in the second TLB only */
	{ PMU_FETCH, 5, place_of_fetches, BIT(50) | BIT(52) | LATENCY(42), { 0 } },
	{ PMU_FETCH, 2, place_of_fetches, BIT(50) | BIT(51) | BIT(55) | LATENCY(100), { 0 } },
};

/* The events that were opened in the place of the machine's, and the ring that they share. */
static struct machine {
	int fds[2]; /* fetch, op */
	struct perf_event_mmap_page *ring;
	uint64_t kernel;
} machine = { .fds = { -1, -1 } };

/* Something that never counts, of the same format. */
static int open_event(const struct perf_event_attr *attr, pid_t pid, int cpu, void *data)
{
	struct perf_event_attr own = *attr;
	struct machine *m = data;
	size_t i;
	int fd;

	if (attr->type == PMU_FETCH || attr->type == PMU_OP) {
		own.type = PERF_TYPE_SOFTWARE;
		own.config = PERF_COUNT_SW_DUMMY;
	}
	fd = (int)syscall(SYS_perf_event_open, &own, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	/* The number may be that of one that was only tried. */
	for (i = 0; i < ARRAY_SIZE(m->fds); i++)
		if (m->fds[i] == fd)
			m->fds[i] = -1;
	if (fd >= 0 && attr->type >= PMU_FETCH)
		m->fds[attr->type - PMU_FETCH] = fd;
	return fd < 0 ? -errno : fd;
}

void *__real_mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset);

/* In the place of mmap(2): a ring of the machine's is memory that can be written, which the
 * kernel's is not; that one stays, for events that join it. */
void *__wrap_mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *got = __real_mmap64(at, size, protection, flags, fd, offset);

	if (got == MAP_FAILED || fd < 0 || (fd != machine.fds[0] && fd != machine.fds[1]))
		return got;
	machine.ring = __real_mmap64(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				     -1, 0);
	return machine.ring;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Appends a record as the kernel writes those of PERF_RECORD_FIELDS with raw data. */
static void put_sample(struct machine *m, const struct dump *d)
{
	const bool op = d->pmu == PMU_OP;
	const uint64_t ip = d->place ? (uint64_t)(uintptr_t)d->place + 1 : m->kernel;
	const uint64_t valid = op ? BIT(17) | BIT(18) : BIT(48) | BIT(49);
	struct {
		struct perf_event_header header;
		uint64_t id, ip;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t raw_size, caps;
		uint64_t regs[7];
	} r = { .header = { .type = PERF_RECORD_SAMPLE,
			    .misc = d->place ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL },
		.ip = ip,
		.pid = (uint32_t)getpid(),
		.tid = (uint32_t)getpid(),
		.time = now_ns(),
		.caps = BIT(11) | 0xff };
	const size_t regs = op ? 7 : 3;
	uint8_t *ring = (uint8_t *)m->ring + sysconf(_SC_PAGESIZE);
	uint64_t head = m->ring->data_head;

	/* Of ops the control bits given are taken away. */
	r.regs[0] = op ? valid & ~d->control : valid | d->control;
	r.regs[1] = ip;
	if (op)
		memcpy(&r.regs[2], d->data, sizeof(d->data));
	(void)ioctl(m->fds[op], PERF_EVENT_IOC_ID, &r.id);
	r.raw_size = (uint32_t)(sizeof(r.caps) + regs * sizeof(*r.regs));
	r.header.size = (uint16_t)(offsetof(typeof(r), regs) + regs * sizeof(*r.regs));
	for (size_t i = 0; i < r.header.size; i++)
		ring[(head + i) % RING_BYTES] = ((const uint8_t *)&r)[i];
	__atomic_store_n(&m->ring->data_head, head + r.header.size, __ATOMIC_RELEASE);
}

static void put_samples(struct machine *m)
{
	size_t i;
	unsigned int n;

	for (i = 0; i < ARRAY_SIZE(dumps); i++)
		for (n = 0; n < dumps[i].times && m->fds[dumps[i].pmu - PMU_FETCH] >= 0; n++)
			put_sample(m, &dumps[i]);
}

/* An address in the kernel's text; 0 if this user may not see any. */
static uint64_t kernel_text(void)
{
	char line[256], name[128];
	unsigned long long at, found = 0;
	FILE *in = fopen("/proc/kallsyms", "re");

	while (in && !found && fgets(line, sizeof(line), in))
		if (sscanf(line, "%llx %*c %127s", &at, name) == 2 && !strcmp(name, "schedule"))
			found = at;
	if (in)
		(void)fclose(in);
	return found;
}

static int sample(struct machine *m, const struct collector_config *config, struct error *err)
{
	_cleanup_(collector_freep) struct collector *c = NULL;
	int r = collector_new(config, &c, err);

	if (r == 0)
		r = collector_start(c, err);
	if (r < 0)
		return r;
	put_samples(m);
	r = collector_stop(c, err);
	collector_print_stats(c, stderr);
	return r;
}

/* Prints the argument of --ext-feature for these events. */
static void print_feature(const struct evderived *d)
{
	const char *before = "ibs:";
	size_t i;

	for (i = 0; i < d->event_count; i++, before = "|") {
		enum ibs_kind kind = d->events[i]->kind;
		const struct event_terms *terms = &d->ibs[kind];

		printf("%s%s:%s:%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%" PRIu64, before,
		       ibs_kinds[kind].name, d->events[i]->name, terms->count, terms->unit_mask,
		       terms->kernel, terms->user);
	}
	puts("");
}

int main(int argc, char **argv)
{
	struct evderived derived = { 0 };
	struct event events[EVENT_MAX];
	struct error err = ERROR_INIT;
	int r = argc < 4 ? -EINVAL : event_parse_all_at(argv[1], argv[3], events, &derived, &err);
	const struct collector_config config = {
		.driver = "perf",
		.drive = { .events = events,
			   .event_count = (size_t)MAX(r, 0),
			   .derived = derived,
			   .scope = DRIVER_SYSTEM,
			   .cpu_buffer_bytes = RING_BYTES,
			   .root = argv[1],
			   .open_event = open_event,
			   .open_data = &machine },
		.record = { .session_dir = argv[2], .session_name = "current", .root = argv[1] },
		.tee_path = argc > 4 ? argv[4] : NULL,
	};

	machine.kernel = kernel_text();
	if (r >= 0)
		r = sample(&machine, &config, &err);
	if (r < 0)
		(void)fprintf(stderr, "ibs_machine: %s\n", err.text);
	else
		print_feature(&derived);
	return r < 0;
}
