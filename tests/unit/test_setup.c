/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "sfile/setup.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static void what_is_written_is_read(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct setup s = { .driver = xstrdup("perf: timer mode"), .cpu_mhz = 2596.142, .cpus = 2 };
	struct error err = ERROR_INIT;
	struct setup back;

	setup_add_event(&s, "TIMER", 0, 0, 997);
	setup_add_event(&s, "CPU_CLK_UNHALTED", 100000, 0x3f, 0);
	CHECK_EQ(setup_write(dir, &s, &err), 0);
	CHECK_EQ(setup_read(dir, &back, &err), 0);
	CHECK_STR(back.driver, "perf: timer mode");
	CHECK_EQ(back.cpus, 2);
	CHECK(back.cpu_mhz > 2596.1419 && back.cpu_mhz < 2596.1421);
	CHECK(!back.kernel && !back.started);
	if (CHECK(back.event_count == 2)) {
		CHECK_STR(back.events[0].name, "TIMER");
		CHECK_EQ(back.events[0].rate_hz, 997);
		CHECK_EQ(back.events[1].count, 100000);
		CHECK_EQ(back.events[1].unit_mask, 0x3f);
	}
	setup_done(&s);
	setup_done(&back);
}

static void the_end_is_added(void)
{
	_cleanup_directory_ char *dir = test_directory();
	struct setup s = { .began = 5, .started = 7, .command = xstrdup("operf a\nb") };
	struct setup back;

	CHECK_EQ(setup_end(dir, NULL), 0);
	CHECK_EQ(setup_read(dir, &back, NULL), -ENOENT);
	setup_add_event(&s, "TIMER", 0, 0, 997);
	CHECK_EQ(setup_write(dir, &s, NULL), 0);
	CHECK_EQ(setup_end(dir, NULL), 0);
	CHECK_EQ(setup_read(dir, &back, NULL), 0);
	CHECK_EQ(back.began, 5);
	CHECK_EQ(back.started, 7);
	CHECK(back.ended > 7);
	CHECK_STR(back.command, "operf a");
	CHECK_EQ(back.event_count, 1);
	setup_done(&s);
	setup_done(&back);
}

static void the_machine_is_read_below_the_root(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *release = path_join(dir, "proc/sys/kernel/osrelease");
	_cleanup_free_ char *cpuinfo = path_join(dir, "proc/cpuinfo");
	struct setup s = { 0 };
	struct error err = ERROR_INIT;

	CHECK_EQ(path_make_parents(release, 0755, &err), 0);
	CHECK_EQ(path_write(release, "5.4.0-x\n", 0644, &err), 0);
	CHECK_EQ(path_write(cpuinfo,
			    "processor : 0\nmodel name\t: AMD EPYC 7R13\ncpu MHz\t\t: 1234.500\n",
			    0644, &err),
		 0);
	setup_describe_machine(&s, dir);
	CHECK_STR(s.kernel, "5.4.0-x");
	CHECK_STR(s.cpu_model, "AMD EPYC 7R13");
	CHECK(s.cpu_mhz == 1234.5);
	CHECK(!s.boot_id && s.started > 0);
	setup_done(&s);
}

static void damaged_lines_leave_things_unknown(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "setup");
	struct error err = ERROR_INIT;
	struct setup s;

	CHECK_EQ(setup_read(dir, &s, &err), -ENOENT);
	CHECK_EQ(path_write(path,
			    "cpus: many\nevent: \nevent: A 1 2\nevent: B 1 2 3 4\nfuture: yes\n"
			    "event: C 99999999999999999999 0 0\nkernel: 6.1\nkernel: 6.2\nx",
			    0644, &err),
		 0);
	CHECK_EQ(setup_read(dir, &s, &err), 0);
	CHECK_EQ(s.cpus, 0);
	CHECK_EQ(s.event_count, 0);
	CHECK_STR(s.kernel, "6.2");
	setup_done(&s);
}

static void fifo_is_refused_at_once(void)
{
	_cleanup_directory_ char *dir = test_directory();
	_cleanup_free_ char *path = path_join(dir, "setup");
	struct error err = ERROR_INIT;
	struct setup s;

	CHECK_EQ(mkfifo(path, 0600), 0);
	(void)alarm(20); /* an open that waits must not hang the test */
	CHECK_EQ(setup_read(dir, &s, &err), -EMEDIUMTYPE);
	CHECK(strstr(err.text, "/setup: not a regular file"));
	(void)alarm(0);
}

TESTS(T(what_is_written_is_read), T(the_end_is_added), T(the_machine_is_read_below_the_root),
      T(damaged_lines_leave_things_unknown), T(fifo_is_refused_at_once))
