/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/driver/perf_cpu.c, perf_cpuset.c and sampling.c: what is lost on a CPU, and CPUs
 * that come and go. The kernel's events are files in memory. */
#include "test.h"

#include "driver/perf_cpu.h"
#include "driver/sampling.h"
#include "perf/perf_record.h"

#include <errno.h>
#include <sys/mman.h>

/* A file from which the next reads return @words. */
static int event_with(const uint64_t *words, size_t count)
{
	int fd = memfd_create("event", MFD_CLOEXEC);

	if (fd < 0 ||
	    pwrite(fd, words, count * sizeof(*words), 0) != (ssize_t)(count * sizeof(*words)))
		abort();
	return fd;
}
#define EVENT_WITH(...)                                                                            \
	event_with((const uint64_t[]){ __VA_ARGS__ },                                              \
		   sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* A CPU on which samples count as @stretch / STRETCH_ONE. */
static struct perf_cpu cpu_with(struct perf_source *sources, size_t count, uint32_t stretch)
{
	return (struct perf_cpu){ .sources = sources,
				  .source_count = count,
				  .stretch = stretch,
				  .stretch_before = stretch };
}

/* What a read of the event returns: value, enabled, running, lost. */
static void an_event_that_waited_says_for_how_long(void)
{
	static const struct {
		uint64_t enabled, running;
		bool inherit;
		uint64_t waited;
	} rows[] = {
		{ 1001, 1000, false, 1 },
		{ 1000, 1000, false, 0 },
		{ 1000, 1001, false, 0 }, /* read while it moved */
		{ 5000, 1000, true, 0 },  /* a task's event waits while the task is elsewhere */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct perf_source sources[] = {
			{ .fd = EVENT_WITH(7, rows[i].enabled, rows[i].running, 0) },
			{ .fd = EVENT_WITH(7, 9, 9, 0) },
		};
		const struct perf_plan plan = { .attrs = { .inherit = rows[i].inherit } };
		struct perf_cpu cpu = cpu_with(sources, 2, STRETCH_ONE);
		struct perf_cpuset set = { .cpus = &cpu, .count = 1 };

		perf_cpu_read_lost(&cpu, &plan);
		CHECK_EQ(perf_cpuset_waited_ns(&set), rows[i].waited);
		CHECK_EQ(perf_cpu_lost(&cpu), 0);
		(void)close(sources[0].fd);
		(void)close(sources[1].fd);
	}
}

static void an_older_kernel_does_not_say_what_it_lost(void)
{
	struct perf_source source = { .fd = EVENT_WITH(7, 1001, 1000) };
	const struct perf_plan plan = { .attrs = { .no_format_lost = true } };
	struct perf_cpu cpu = cpu_with(&source, 1, STRETCH_ONE);

	perf_cpu_read_lost(&cpu, &plan);
	CHECK_EQ(cpu.waited_ns, 1);
	CHECK_EQ(perf_cpu_lost(&cpu), 0);
	(void)close(source.fd);
}

/* The records in the ring and the event both count the same losses; the event knows the last. */
static void lost_samples_are_counted_once(void)
{
	struct perf_source source = { .fd = EVENT_WITH(0, 1, 1, 3, 0, 1, 1, 5) };
	const struct perf_plan plan = { 0 };
	struct perf_cpu cpu = cpu_with(&source, 1, STRETCH_ONE);
	struct perf_record r = { .type = PERF_RECORD_LOST, .lost = 1 };
	struct driver_stats stats = { 0 };

	perf_cpu_notice(&cpu, &r, &stats);
	CHECK_EQ(perf_cpu_lost(&cpu), 1);
	perf_cpu_read_lost(&cpu, &plan); /* 3 */
	CHECK_EQ(perf_cpu_lost(&cpu), 3);
	r = (struct perf_record){ .type = PERF_RECORD_LOST_SAMPLES, .lost = 2 };
	perf_cpu_notice(&cpu, &r, &stats);
	CHECK_EQ(perf_cpu_lost(&cpu), 3);
	perf_cpu_read_lost(&cpu, &plan); /* 5 */
	CHECK_EQ(perf_cpu_lost(&cpu), 5);
	(void)close(source.fd);
}

static void lost_samples_stand_for_as_many_as_the_others(void)
{
	struct perf_plan plan = { .count = 0 };
	struct perf_cpu cpu = cpu_with(NULL, 0, 4 * STRETCH_ONE);
	const struct perf_record r = { .type = PERF_RECORD_LOST, .lost = 10 };
	struct driver_stats stats = { 0 };

	perf_cpu_notice(&cpu, &r, &stats);
	CHECK_EQ(perf_cpu_lost(&cpu), 40);
	CHECK_EQ(perf_cpu_stretch(&cpu, &plan, STRETCH_ONE, 100), 0);
	perf_cpu_notice(&cpu, &r, &stats);
	CHECK_EQ(perf_cpu_lost(&cpu), 50);
	CHECK_EQ(perf_cpu_stretch_at(&cpu, 99), 4 * STRETCH_ONE);
	CHECK_EQ(perf_cpu_stretch_at(&cpu, 100), STRETCH_ONE);
}

/* A machine whose list of CPUs is a file; its events open as memory as large as a ring. */
struct cpus {
	char *root, *online;
	struct sampling sampling;
	pid_t everybody;
	int failing; /* -errno of the next events, 0: they open */
};

static int open_memory(const struct perf_event_attr *attr, pid_t pid, int cpu, void *data)
{
	const struct cpus *c = data;
	int fd;

	(void)attr, (void)pid, (void)cpu;
	if (c->failing)
		return c->failing;
	fd = memfd_create("event", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 1 << 20) < 0)
		abort();
	return fd;
}

static void set_online(struct cpus *c, const char *list)
{
	CHECK_EQ(path_write(c->online, list, 0644, NULL), 0);
}

static void cpus_init(struct cpus *c, const char *list)
{
	struct error err = ERROR_INIT;

	*c = (struct cpus){ .root = test_directory(), .everybody = -1 };
	c->online = path_join(c->root, "sys/devices/system/cpu/online");
	CHECK_EQ(path_make_parents(c->online, 0755, NULL), 0);
	set_online(c, list);
	c->sampling = (struct sampling)SAMPLING_INIT;
	c->sampling.plan.root = c->root;
	c->sampling.plan.attrs =
		(struct perf_attrs){ .open = open_memory, .open_data = c, .sideband_bytes = 4096 };
	c->sampling.targets = (struct perf_targets){ .pids = &c->everybody, .count = 1 };
	CHECK_EQ(sampling_open(&c->sampling, &err), 0);
}

static void cpus_done(struct cpus *c)
{
	c->sampling.targets = (struct perf_targets){ 0 };
	sampling_done(&c->sampling);
	free(c->online);
	test_directory_donep(&c->root);
}

/* The CPUs that are sampled, "0 2 3 ". */
static const char *sampled(const struct cpus *c)
{
	static char text[256];
	size_t i, at = 0;

	text[0] = '\0';
	for (i = 0; i < c->sampling.cpus.count; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%u ",
				       c->sampling.cpus.cpus[i].cpu);
	return text;
}

static void cpus_that_come_and_go_are_followed(void)
{
	static const struct {
		const char *online;
		bool came;
		uint64_t hotplug; /* since the step before */
		const char *sampled;
	} steps[] = {
		{ "0-1\n", false, 0, "0 1 " },	      { "0\n", false, 1, "0 " },
		{ "0-2\n", true, 2, "0 1 2 " },	      { "1-2\n", false, 1, "1 2 " },
		{ "0,3\n", true, 4, "0 3 " },	      { "0-1,3\n", true, 1, "0 1 3 " },
		{ "nonsense\n", false, 0, "0 1 3 " },
	};
	_cleanup_(cpus_done) struct cpus c;
	uint64_t before, now_ns = 5000000000;
	size_t i;

	cpus_init(&c, "0-1\n");
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		set_online(&c, steps[i].online);
		before = c.sampling.stats.cpu_hotplug;
		CHECK(sampling_look_at_cpus(&c.sampling, now_ns) == steps[i].came);
		CHECK_EQ(c.sampling.stats.cpu_hotplug - before, steps[i].hotplug);
		CHECK_STR(sampled(&c), steps[i].sampled);
		now_ns += 1000000000;
	}
}

static void cpus_are_looked_at_once_a_second(void)
{
	_cleanup_(cpus_done) struct cpus c;

	cpus_init(&c, "0\n");
	CHECK(!sampling_look_at_cpus(&c.sampling, 5000000000));
	set_online(&c, "0-1\n");
	CHECK(!sampling_look_at_cpus(&c.sampling, 5999999999));
	CHECK_STR(sampled(&c), "0 ");
	CHECK(sampling_look_at_cpus(&c.sampling, 6000000000));
	CHECK_STR(sampled(&c), "0 1 ");
}

/* What a CPU lost, and how long its events waited, stays counted when it goes. */
static void totals_of_a_cpu_outlive_it(void)
{
	_cleanup_(cpus_done) struct cpus c;
	struct driver_cpu_stats stats;

	cpus_init(&c, "0-1\n");
	c.sampling.cpus.cpus[1].lost = 5;
	c.sampling.cpus.cpus[1].waited_ns = 7;
	perf_cpuset_totals(&c.sampling.cpus, 1)->sample_received = 9;
	CHECK_EQ(perf_cpuset_lost(&c.sampling.cpus), 5);
	set_online(&c, "0\n");
	CHECK(!sampling_look_at_cpus(&c.sampling, 5000000000));
	CHECK_EQ(perf_cpuset_lost(&c.sampling.cpus), 5);
	CHECK_EQ(perf_cpuset_waited_ns(&c.sampling.cpus), 7);
	set_online(&c, "0-1\n");
	CHECK(sampling_look_at_cpus(&c.sampling, 6000000000));
	c.sampling.cpus.cpus[1].lost = 1;
	CHECK_EQ(perf_cpuset_lost(&c.sampling.cpus), 6);
	perf_cpuset_cpu_stats(&c.sampling.cpus, 1, &stats);
	CHECK_EQ(stats.sample_lost_overflow, 6);
	CHECK_EQ(stats.sample_received, 9);
	perf_cpuset_cpu_stats(&c.sampling.cpus, 0, &stats);
	CHECK_EQ(stats.sample_lost_overflow, 0);
	perf_cpuset_cpu_stats(&c.sampling.cpus, 99, &stats);
	CHECK_EQ(stats.sample_lost_overflow, 0);
}

static void a_cpu_whose_events_do_not_open_is_left_out(void)
{
	_cleanup_(cpus_done) struct cpus c;

	cpus_init(&c, "0\n");
	set_online(&c, "0-1\n");
	c.failing = -EBUSY;
	CHECK(!sampling_look_at_cpus(&c.sampling, 5000000000));
	CHECK_STR(sampled(&c), "0 ");
	CHECK_EQ(c.sampling.stats.cpu_hotplug, 0);
	c.failing = 0; /* tried again */
	CHECK(sampling_look_at_cpus(&c.sampling, 6000000000));
	CHECK_STR(sampled(&c), "0 1 ");
	CHECK_EQ(c.sampling.stats.cpu_hotplug, 1);
}

/* Its events end with the CPU, even if it is back before anybody looks. */
static void a_cpu_whose_events_died_is_opened_again(void)
{
	static const uint64_t enabled[] = { 0, 1000, 0, 1000 }; /* two reads of two words */
	_cleanup_(cpus_done) struct cpus c;
	struct perf_cpu *cpu;

	cpus_init(&c, "0\n");
	cpu = &c.sampling.cpus.cpus[0];
	cpu->sideband_on = true;
	CHECK_EQ(pwrite(cpu->sideband_fds[0], enabled, sizeof(enabled), 0), sizeof(enabled));
	CHECK(!sampling_look_at_cpus(&c.sampling, 5000000000));
	CHECK_EQ(c.sampling.stats.cpu_hotplug, 0);
	CHECK(sampling_look_at_cpus(&c.sampling, 6000000000));
	CHECK_EQ(c.sampling.stats.cpu_hotplug, 2); /* went and came */
	CHECK_STR(sampled(&c), "0 ");
}

/* A driver that is set up again takes over what the one before it counted. */
static void successor_takes_over_the_totals(void)
{
	_cleanup_(cpus_done) struct cpus old, new;

	cpus_init(&old, "0-1\n");
	cpus_init(&new, "0-1\n");
	old.sampling.cpus.cpus[0].lost = 3;
	old.sampling.cpus.cpus[1].waited_ns = 4;
	perf_cpuset_succeed(&new.sampling.cpus, &old.sampling.cpus);
	CHECK_EQ(old.sampling.cpus.count, 0);
	CHECK_EQ(perf_cpuset_lost(&new.sampling.cpus), 3);
	CHECK_EQ(perf_cpuset_waited_ns(&new.sampling.cpus), 4);
	CHECK_STR(sampled(&new), "0 1 ");
}

/* The clock ticks for idle CPUs, too; what is sampled more rarely ticks more rarely. */
static void ticks_follow_the_clock_and_the_stretch(void)
{
	struct perf_plan plan = { .count = 1 };
	struct perf_source source = { .fd = -1 };
	struct perf_cpu cpu = cpu_with(&source, 1, STRETCH_ONE);

	event_timer(&plan.events[0], 1000, true, true);
	perf_cpu_tick(&cpu, &plan, 1000000000, true);
	CHECK_EQ(cpu.ticks, 0);
	perf_cpu_tick(&cpu, &plan, 3000000000, true);
	CHECK_EQ(cpu.ticks, 2000);
	cpu.stretch = 2 * STRETCH_ONE;
	perf_cpu_tick(&cpu, &plan, 4000000000, false);
	CHECK_EQ(cpu.ticks, 2500);
	perf_cpu_tick(&cpu, &plan, 9000000000, true); /* it stood still until now */
	CHECK_EQ(cpu.ticks, 2500);
}

TESTS(T(an_event_that_waited_says_for_how_long), T(an_older_kernel_does_not_say_what_it_lost),
      T(lost_samples_are_counted_once), T(lost_samples_stand_for_as_many_as_the_others),
      T(cpus_that_come_and_go_are_followed), T(cpus_are_looked_at_once_a_second),
      T(totals_of_a_cpu_outlive_it), T(a_cpu_whose_events_do_not_open_is_left_out),
      T(a_cpu_whose_events_died_is_opened_again), T(successor_takes_over_the_totals),
      T(ticks_follow_the_clock_and_the_stretch))
