/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the driver "perf" decides and says before any event is open. */
#include "test.h"

#include "driver/perf_plan.h"
#include "driver/perf_targets.h"
#include "event/event.h"
#include "perf/perf_event.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <unistd.h>

static void drivers_are_found_by_name(void)
{
	CHECK(driver_find(NULL) == driver_find("auto"));
	CHECK(driver_find("auto") && driver_find("auto") != &driver_replay);
	CHECK(driver_find("perf") == &driver_perf);
	CHECK(driver_find("replay") == &driver_replay);
	CHECK(!driver_find("oprofile"));
	CHECK(!driver_find(""));
}

/* A machine of ours with one setting of the kernel's; caller removes it. */
static char *machine_with(const char *setting, const char *value)
{
	char *root = test_directory();
	_cleanup_free_ char *path = xasprintf("%s/proc/sys/kernel/%s", root, setting);

	CHECK_EQ(path_make_parents(path, 0755, NULL), 0);
	CHECK_EQ(path_write(path, value, 0644, NULL), 0);
	return root;
}

static void failures_name_step_and_remedy(void)
{
	static const struct {
		enum driver_scope scope;
		const char *paranoid;
		int code;
		const char *remedy, *for_root; /* the latter where they differ */
	} rows[] = {
		{ DRIVER_SYSTEM, "2\n", -EACCES, "sysctl kernel.perf_event_paranoid=0", NULL },
		{ DRIVER_TREE, "1\n", -EPERM, "cap_perfmon", "--cap-add=PERFMON" },
		{ DRIVER_SYSTEM, "3\n", -EACCES, "cap_sys_admin", "--cap-add=SYS_ADMIN" },
		{ DRIVER_TASK, "3\n", -EACCES, "sysctl kernel.perf_event_paranoid=2", NULL },
		{ DRIVER_TASK, "4\n", -EACCES, "perf_event_paranoid is 4", NULL },
		{ DRIVER_SYSTEM, "2\n", -EMFILE, "ulimit -n", NULL },
		{ DRIVER_SYSTEM, "2\n", -ENOSYS, "CONFIG_PERF_EVENTS", NULL },
		{ DRIVER_SYSTEM, "2\n", -EBUSY, "stop the other profiler", NULL },
		{ DRIVER_SYSTEM, "2\n", -EIO, "Input/output error", NULL },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_directory_ char *root =
			machine_with("perf_event_paranoid", rows[i].paranoid);
		const struct perf_plan plan = { .scope = rows[i].scope, .root = root };
		const char *remedy =
			geteuid() == 0 && rows[i].for_root ? rows[i].for_root : rows[i].remedy;
		struct error err = ERROR_INIT;

		CHECK_EQ(perf_plan_explain(&plan, rows[i].code, "cannot fly", &err), rows[i].code);
		CHECK(!strncmp(err.text, "cannot fly: ", 12));
		if (!strstr(err.text, remedy)) {
			printf("# row %zu: %s\n", i, err.text);
			CHECK(false);
		}
	}
}

/* In a container, the level of the kernel is not what forbids it. */
static void a_filter_of_system_calls_is_named(void)
{
	_cleanup_directory_ char *root = machine_with("perf_event_paranoid", "2\n");
	_cleanup_free_ char *path = path_join(root, "proc/self/status");
	const struct perf_plan plan = { .scope = DRIVER_SYSTEM, .root = root };
	struct error err = ERROR_INIT, other = ERROR_INIT;

	CHECK_EQ(path_make_parents(path, 0755, NULL), 0);
	CHECK_EQ(path_write(path, "Name:\toperf\nSeccomp:\t2\nSeccomp_filters:\t1\n", 0644, NULL),
		 0);
	CHECK_EQ(perf_plan_explain(&plan, -EPERM, "cannot fly", &err), -EPERM);
	CHECK(strstr(err.text, "a seccomp filter forbids perf_event_open"));
	CHECK(!strstr(err.text, "paranoid"));
	CHECK_EQ(perf_plan_explain(&plan, -EACCES, "cannot fly", &other), -EACCES);
	CHECK(strstr(other.text, "perf_event_paranoid is 2"));
}

/* In the place of the kernel: any event opens. */
static int open_any(const struct perf_event_attr *attr, pid_t pid, int cpu, void *data)
{
	(void)attr, (void)pid, (void)cpu, (void)data;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* A rate that nobody asked for yields to the limit; one that somebody asked for does not. */
static void rates_above_the_limit_are_refused(void)
{
	_cleanup_directory_ char *root = machine_with("perf_event_max_sample_rate", "500\n");
	struct event event = { .name = "TIMER", .is_timer = true, .rate_hz = 501, .user = true };
	struct driver_config config = { .events = &event, .event_count = 1, .root = root };
	struct perf_plan plan;
	struct error err = ERROR_INIT;

	CHECK_EQ(perf_plan_make(&plan, "perf", &config, 0, &err), -EINVAL);
	CHECK(strstr(err.text, "TIMER: 501 samples per second is above"));
	CHECK(strstr(err.text, "perf_event_max_sample_rate=501"));
	event.rate_hz = 10001;
	config.root = NULL;
	CHECK_EQ(perf_plan_make(&plan, "perf", &config, 0, &err), -EINVAL);
	CHECK(strstr(err.text, "--force"));
	config.open_event = open_any;
	event.rate_hz = 10000;
	CHECK_EQ(perf_plan_make(&plan, "perf", &config, 0, &err), 0);
	perf_plan_done(&plan);
	event.rate_hz = 10001;
	config.force = true;
	CHECK_EQ(perf_plan_make(&plan, "perf", &config, 0, &err), 0);
	perf_plan_done(&plan);
	config.event_count = 0;
	CHECK_EQ(perf_plan_make(&plan, "perf", &config, 0, &err), -EINVAL);
}

static void rings_shrink_to_a_page(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_plan plan = { .attrs = { .sample_bytes = 8 * page,
					     .sideband_bytes = 2 * page } };

	CHECK(perf_plan_shrink(&plan));
	CHECK(plan.attrs.sample_bytes == 4 * page && plan.attrs.sideband_bytes == page);
	CHECK(perf_plan_shrink(&plan));
	CHECK(perf_plan_shrink(&plan));
	CHECK(plan.attrs.sample_bytes == page && plan.attrs.sideband_bytes == page);
	CHECK(!perf_plan_shrink(&plan));
}

static int keep_watermark(const struct perf_event_attr *attr, pid_t pid, int cpu, void *data)
{
	uint32_t *watermark = data;

	*watermark = attr->wakeup_watermark;
	return open_any(attr, pid, cpu, NULL);
}

/* Before the ring is half full, when chains no longer wait for unwind tables. */
static void readers_of_large_rings_are_woken_early(void)
{
	static const size_t rings[][2] = { { 64 << 10, 32 << 10 }, { 8 << 20, 1 << 20 } };
	const struct event event = { .name = "TIMER", .is_timer = true, .rate_hz = 99 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rings); i++) {
		uint32_t watermark = 0;
		struct perf_attrs attrs = { .sample_bytes = rings[i][0],
					    .open = keep_watermark,
					    .open_data = &watermark };
		_cleanup_close_ int fd = perf_event_open_sampling(&attrs, &event, -1, 0);

		CHECK(fd >= 0);
		CHECK_EQ(watermark, rings[i][1]);
	}
}

static void targets_are_the_threads_of_a_process(void)
{
	_cleanup_directory_ char *root = test_directory();
	_cleanup_free_ char *one = xasprintf("%s/proc/70/task/70/x", root);
	_cleanup_free_ char *two = xasprintf("%s/proc/70/task/75/x", root);
	struct driver_config config = { .scope = DRIVER_TASK, .pid = 70, .root = root };
	struct perf_targets targets = { 0 };
	struct error err = ERROR_INIT;

	CHECK_EQ(perf_targets_find(&targets, &config, &err), -ESRCH);
	CHECK_STR(err.text, "process 70: no such process");
	CHECK_EQ(path_make_parents(one, 0755, NULL), 0);
	CHECK_EQ(path_make_parents(two, 0755, NULL), 0);
	CHECK_EQ(perf_targets_find(&targets, &config, &err), 0);
	CHECK_EQ(targets.count, 2);
	CHECK_EQ(targets.pids[0] + targets.pids[1], 145);
	perf_targets_done(&targets);
	config.scope = DRIVER_TREE;
	CHECK_EQ(perf_targets_find(&targets, &config, &err), 0);
	CHECK(targets.count == 1 && targets.pids[0] == -1);
	perf_targets_done(&targets);
}

TESTS(T(drivers_are_found_by_name), T(failures_name_step_and_remedy),
      T(a_filter_of_system_calls_is_named), T(rates_above_the_limit_are_refused),
      T(rings_shrink_to_a_page), T(readers_of_large_rings_are_woken_early),
      T(targets_are_the_threads_of_a_process))
