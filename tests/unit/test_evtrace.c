/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tracepoints as events, of a machine with a few of them. */
#include "event/evtrace.h"

#include "base/strbuf.h"
#include "event/event.h"
#include "file/path.h"
#include "test.h"

#include <errno.h>
#include <linux/perf_event.h>

/* Writes the file @path below @root. */
static void write_below(const char *root, const char *path, const char *text)
{
	_cleanup_free_ char *file = xasprintf("%s%s", root, path);
	FILE *out;

	CHECK_EQ(path_make_parents(file, 0755, NULL), 0);
	out = fopen(file, "w");
	if (CHECK(out)) {
		(void)fputs(text, out);
		(void)fclose(out);
	}
}

/* Makes a tracepoint below @root. */
static void add(const char *root, const char *path, const char *id)
{
	_cleanup_free_ char *file = xasprintf("/sys/kernel/tracing/events/%s/id", path);

	write_below(root, file, id);
}

static void fill(const char *root)
{
	add(root, "sched/sched_switch", "305\n");
	add(root, "sched/sched_wakeup", "306\n");
	add(root, "syscalls/sys_enter_read", "700\n");
}

/* Parses @spec, which must mean @text. */
static struct event parse(const char *root, const char *spec, const char *text)
{
	_cleanup_free_ char *its = NULL;
	struct error err = ERROR_INIT;
	struct event event = { 0 };

	CHECK_EQ(event_parse_at(root, spec, &event, &err), 0);
	if (err.code)
		printf("# %s: %s\n", spec, err.text);
	its = event_text(&event);
	CHECK_STR(its, text);
	return event;
}

/* Parses @spec, which must be refused with a message that has @says. */
static void check_refused(const char *root, const char *spec, const char *says)
{
	struct error err = ERROR_INIT;
	struct event event;

	CHECK_EQ(event_parse_at(root, spec, &event, &err), -EINVAL);
	if (!CHECK(strstr(err.text, says)))
		printf("# %s gives '%s'\n", spec, err.text);
}

static void names_as_in_perf_are_accepted(void)
{
	static const struct {
		const char *spec, *text;
		uint64_t id;
	} rows[] = {
		{ "sched:sched_switch", "sched~sched_switch:1:0:1:1", 305 },
		{ "sched:sched_switch:10", "sched~sched_switch:10:0:1:1", 305 },
		{ "tracepoint:sched:sched_wakeup", "sched~sched_wakeup:1:0:1:1", 306 },
		{ "sched~sched_switch:1:0:1:1", "sched~sched_switch:1:0:1:1", 305 },
		{ "syscalls:sys_enter_read:k", "syscalls~sys_enter_read:1:0:1:0", 700 },
	};
	_cleanup_directory_ char *root = test_directory();
	size_t i;

	fill(root);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event event = parse(root, rows[i].spec, rows[i].text);

		CHECK_EQ(event.perf_type, PERF_TYPE_TRACEPOINT);
		CHECK_EQ(event.perf_config, rows[i].id);
	}
}

static void a_pmu_may_have_the_name_of_a_group(void)
{
	_cleanup_directory_ char *root = test_directory();
	struct event event;

	add(root, "msr/read_msr", "400\n");
	write_below(root, "/sys/bus/event_source/devices/msr/type", "9\n");
	write_below(root, "/sys/bus/event_source/devices/msr/format/event", "config:0-63\n");
	write_below(root, "/sys/bus/event_source/devices/msr/events/tsc", "event=0x01\n");
	event = parse(root, "msr~tsc:900000:0:1:1", "msr~tsc:900000:0:1:1");
	CHECK_EQ(event.perf_type, 9);
	CHECK_EQ(event.perf_config, 1);
	event = parse(root, "msr~read_msr:1:0:1:1", "msr~read_msr:1:0:1:1");
	CHECK_EQ(event.perf_type, PERF_TYPE_TRACEPOINT);
	CHECK_EQ(event.perf_config, 400);
	event = parse(root, "msr:read_msr", "msr~read_msr:1:0:1:1");
	CHECK_EQ(event.perf_config, 400);
}

static void add_kprobes(const char *root)
{
	write_below(root, "/sys/bus/event_source/devices/kprobe/type", "6\n");
	write_below(root, "/sys/bus/event_source/devices/kprobe/format/retprobe", "config:0\n");
}

static void functions_of_the_kernel_are_probes(void)
{
	static const struct {
		const char *spec, *text, *function;
		uint64_t config, offset;
	} rows[] = {
		{ "kprobe:vfs_read", "kprobe~vfs_read:1:0:1:1", "vfs_read", 0, 0 },
		{ "kprobe:__x64_sys_read:100", "kprobe~__x64_sys_read:100:0:1:1", "__x64_sys_read",
		  0, 0 },
		{ "kprobe:vfs_read+0x10", "kprobe~vfs_read+0x10:1:0:1:1", "vfs_read", 0, 16 },
		{ "kprobe~vfs_read:1:0:1:1", "kprobe~vfs_read:1:0:1:1", "vfs_read", 0, 0 },
		{ "kretprobe:vfs_read", "kretprobe~vfs_read:1:0:1:1", "vfs_read", 1, 0 },
	};
	_cleanup_directory_ char *root = test_directory();
	size_t i;

	fill(root);
	add_kprobes(root);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event event = parse(root, rows[i].spec, rows[i].text);

		CHECK_STR(event.probed, rows[i].function);
		CHECK_EQ(event.perf_type, 6);
		CHECK_EQ(event.perf_config, rows[i].config);
		CHECK_EQ(event.perf_config2, rows[i].offset);
	}
}

static void probes_need_a_kernel_with_them(void)
{
	static const struct {
		const char *spec, *says;
	} rows[] = {
		{ "kprobe:vfs_read", "this kernel has no kprobes (CONFIG_KPROBE_EVENTS)" },
		{ "kprobe:vfs_read+x",
		  "'x' is not an offset in the function vfs_read, such as 0x10" },
		{ "kprobe:vfs_read:u", "only user space was chosen" },
	};
	_cleanup_directory_ char *root = test_directory();
	size_t i;

	fill(root);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		check_refused(root, rows[i].spec, rows[i].says);
		add_kprobes(root);
	}
}

static void mistakes_are_named(void)
{
	static const struct {
		const char *spec, *says;
	} rows[] = {
		{ "sched:sched_swich", "no tracepoint sched:sched_swich; did you mean "
				       "sched:sched_switch?" },
		{ "nothing:at_all_like_it",
		  "no tracepoint nothing:at_all_like_it; ophelp --search" },
		{ "sched:sched_switch:0", "Count 0 for event" },
		{ "sched:sched_switch:u", "only user space was chosen" },
		{ "page-faults:x", "count 'x' is not a number" },
		{ "sched:..", "Invalid event" },
	};
	_cleanup_directory_ char *root = test_directory();
	size_t i;

	fill(root);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		check_refused(root, rows[i].spec, rows[i].says);
}

static void add_name(const char *group, const char *name, void *data)
{
	strbuf_addf(data, "%s:%s ", group, name);
}

static void all_are_listed_in_order(void)
{
	_cleanup_directory_ char *root = test_directory();
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	struct error err = ERROR_INIT;

	CHECK_EQ(evtrace_each(root, add_name, &names, &err), -ENOENT);
	CHECK(strstr(err.text, "mount -t tracefs"));
	fill(root);
	CHECK_EQ(evtrace_each(root, add_name, &names, NULL), 0);
	CHECK_STR(strbuf_text(&names),
		  "sched:sched_switch sched:sched_wakeup syscalls:sys_enter_read ");
}

TESTS(T(names_as_in_perf_are_accepted), T(a_pmu_may_have_the_name_of_a_group),
      T(functions_of_the_kernel_are_probes), T(probes_need_a_kernel_with_them),
      T(mistakes_are_named), T(all_are_listed_in_order))
