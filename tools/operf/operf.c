/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles a command, a process or the whole machine into its own session. */
#include "base/mem.h"
#include "base/parse.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "control/settings.h"
#include "perf/probe.h"
#include "parser/parser.h"
#include "profile/profile.h"
#include "record/collector.h"
#include "sfile/session.h"
#include "tools/common/target.h"
#include "tools/operf/session_owner.h"
#include "tools/operf/target_files.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { PRIORITY = 10 };	   /* above that of the target, in steps of nice(2) */
enum { DEFAULT_HZ = 997 }; /* a prime: not in step with periodic work */

static const char default_dir[] = "oprofile_data";

static bool force, system_wide, append, lazy, off_cpu;
static const char *session_dir = default_dir, *vmlinux;
static uint64_t pid;
static struct setting_given given[] = SETTINGS_GIVEN;
static struct settings settings; /* the options shared with the daemon */
static struct strbuf specs;	 /* of all --events, joined by commas */

static int add_events(const char *arg, void *target, struct error *err)
{
	struct strbuf *all = target;

	if (!*arg)
		return error_set(err, -EINVAL, "--events: the list of events is empty");
	strbuf_addf(all, "%s%s", all->length ? "," : "", arg);
	return 0;
}

/* clang-format off */
static const struct opt opts[] = {
	{ 0, NULL, OPT_HEADING, NULL, NULL, "What to profile", NULL },
	{ 'p', "pid", OPT_U64, &pid, "PID",
	  "profile a running process and the children that it forks, until it ends or ctrl-C" },
	{ 's', "system-wide", OPT_FLAG, &system_wide, NULL,
	  "profile the whole machine until ctrl-C" },
	{ 'e', "events", OPT_CALL, &specs, "EVENT,...",
	  "sample these: NAME[:count[:unitmask[:kernel[:user]]]]; the CPU's cycles by default",
	  add_events },
	{ 0, "rate", OPT_CALL, &given[SETTING_RATE], "HZ",
	  "samples per second per CPU, by the clock (997 if nothing else samples)", setting_give },
	{ 0, "force", OPT_FLAG, &force, NULL, "allow samples less than 100 us apart" },
	{ 0, "driver", OPT_CALL, &given[SETTING_DRIVER], "NAME",
	  "driver that takes the samples: auto, bpf, perf (auto)", setting_give },
	{ 0, "off-cpu", OPT_FLAG, &off_cpu, NULL,
	  "also measure where, and for how long, it is off the CPU (event OFFCPU)" },
	{ 'g', "callgraph", OPT_CALL, &given[SETTING_CALLGRAPH], "[DEPTH]",
	  "record the call chain of every sample, up to DEPTH frames (127)", setting_give },
	{ 0, "callgraph-mode", OPT_CALL, &given[SETTING_CALLGRAPH_MODE], "auto|fp|table",
	  "find callers by frame pointers or by the images' unwind tables (auto)", setting_give },
	{ 0, "unwind-memory", OPT_CALL, &given[SETTING_UNWIND_MEMORY], "SIZE",
	  "memory for unwind tables; chains that need more are cut short (64M)", setting_give },
	{ 0, "cpu-buffer-size", OPT_CALL, &given[SETTING_CPU_BUF_SIZE], "WORDS",
	  "size of each CPU's buffer (0: default)", setting_give },
	{ 0, NULL, OPT_HEADING, NULL, NULL, "Output", NULL },
	{ 'd', "session-dir", OPT_PATH, &session_dir, "DIR",
	  "directory of the session (./oprofile_data)" },
	{ 'a', "append", OPT_FLAG, &append, NULL,
	  "add to the session's current profile instead of moving it to \"previous\"" },
	{ 't', "separate-thread", OPT_CALL, &given[SETTING_SEPARATE_THREAD], NULL,
	  "separate samples by thread", setting_give },
	{ 'c', "separate-cpu", OPT_CALL, &given[SETTING_SEPARATE_CPU], NULL,
	  "separate samples by CPU", setting_give },
	{ 0, "separate-cgroup", OPT_CALL, &given[SETTING_SEPARATE_CGROUP], NULL,
	  "separate samples by cgroup: container, service", setting_give },
	{ 'k', "vmlinux", OPT_PATH, &vmlinux, "FILE",
	  "image of the running kernel, with symbols (default: /proc/kallsyms)" },
	{ 'l', "lazy-conversion", OPT_FLAG, &lazy, NULL,
	  "accepted without effect: samples are always converted at once" },
	{ 'V', "verbose", OPT_CALL, &given[SETTING_VERBOSE], "LEVEL,...",
	  "print more: debug, record, convert, misc, sfile, arcs, all", setting_give },
	OPT_END
};
/* clang-format on */

static const struct opt_cmdline cmdline = {
	.tool = "operf",
	.usage = "[OPTION]... COMMAND [ARGUMENT]... | --pid=PID | --system-wide",
	.summary = "Profile a command, a process or the whole machine.",
	.opts = opts,
	.stop_at_operand = true,
};

/* Whether whole CPUs may be sampled. If so, a process is followed by a filter, which costs its
 * threads nothing; if not, by inherited events, which any user may have. */
static bool may_sample_cpus(void)
{
	struct probe_result result;

	probe_run(PROBE_SYSTEM_WIDE, "", &result);
	return result.verdict != PROBE_MISSING;
}

/* With perf_event_paranoid >= 2 an ordinary user may not sample the kernel, not even in processes
 * of their own. */
static int leave_kernel_out(struct event *events, size_t count, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	int64_t level = 2;
	size_t i;

	if (path_read("", "/proc/sys/kernel/perf_event_paranoid", &text, NULL) > 0) {
		text[strcspn(text, "\n")] = '\0';
		(void)parse_i64(text, INT32_MIN, INT32_MAX, &level);
	}
	if (level < 2)
		return 0;
	for (i = 0; i < count; i++) {
		if (!events[i].user)
			return error_set(err, -EACCES,
					 "event %s: this user may not sample the kernel; run as "
					 "root, or set sysctl kernel.perf_event_paranoid=1",
					 events[i].name);
		events[i].kernel = false;
	}
	log_info("the kernel is not sampled: perf_event_paranoid is %" PRId64, level);
	return 0;
}

static uint64_t rate_hz(void)
{
	return given[SETTING_RATE].value ? settings.rate : DEFAULT_HZ;
}

/* Parses the events into @events, and those that an extended feature derives into @derived. */
static int choose_events(struct event *events, struct evderived *derived, struct error *err)
{
	const char *unasked = given[SETTING_RATE].value ? "TIMER" : "default";
	int count =
		event_parse_all(specs.length ? strbuf_text(&specs) : unasked, events, derived, err);
	uint64_t most;

	if (count < 0)
		return count;
	if (off_cpu && derived->event_count)
		return error_set(
			err, -EINVAL,
			"--off-cpu cannot be combined with events of %s: only one extended "
			"feature can be enabled",
			evderived_name(derived));
	derived->offcpu |= off_cpu;
	if (path_read_u64("", "/proc/sys/kernel/perf_event_max_sample_rate", &most) == 0 &&
	    rate_hz() > most)
		return error_set(err, -EINVAL,
				 "--rate=%" PRIu64 ": this kernel allows %" PRIu64
				 " samples per second; sysctl "
				 "kernel.perf_event_max_sample_rate=%" PRIu64 " raises the limit",
				 rate_hz(), most, rate_hz());
	return count;
}

/* The settings of the collector for @target, but for the events. */
static struct collector_config configure(const struct target *target, const char *directory)
{
	bool cpus = may_sample_cpus();

	return (struct collector_config){
		.driver = settings.driver,
		.drive = {
			.scope = target->kind == TARGET_SYSTEM ? DRIVER_SYSTEM
				 : cpus			       ? DRIVER_TREE
							       : DRIVER_TASK,
			.pid = target->pid,
			.enable_on_exec = target->kind == TARGET_COMMAND,
			.timer_hz = rate_hz(),
			.force = force,
			.callgraph_depth = (unsigned int)settings.callgraph,
			.callgraph_mode = (enum driver_chain_mode)settings.callgraph_mode,
			.unwind_bytes = settings.unwind_memory,
			.cpu_buffer_bytes = settings.cpu_buffer_size * sizeof(uint64_t),
		},
		.record = {
			.session_dir = directory,
			.session_name = "current",
			.separate = RECORD_SEPARATE_LIB | RECORD_SEPARATE_KERNEL |
				    (unsigned int)settings.separate,
			.vmlinux = vmlinux,
			.keep_ms = settings.keep,
		},
	};
}

/* Sets up the collector for @target. The current profile becomes "previous" unless appended to. */
static int open_collector(const struct target *target, struct parser *parser,
			  struct collector **ret, struct error *err)
{
	_cleanup_(collector_freep) struct collector *c = NULL;
	_cleanup_free_ char *directory = path_absolute(session_dir);
	struct collector_config config = configure(target, directory);
	struct event events[EVENT_MAX];
	int r = choose_events(events, &config.drive.derived, err);

	if (r < 0)
		return r;
	config.parser = parser;
	config.drive.events = events;
	config.drive.event_count = (size_t)r;
	if (config.drive.scope == DRIVER_TASK && (r = leave_kernel_out(events, r, err)) < 0)
		return r;
	r = session_owner_check(directory, err);
	if (r < 0)
		return r;
	if (vmlinux && access(vmlinux, R_OK) < 0)
		return error_errno(err, -errno, "--vmlinux=%s", vmlinux);
	r = collector_new(&config, &c, err);
	if (r < 0)
		return r;
	if (!append && session_exists(directory, "current")) {
		r = session_remove(directory, "previous", err);
		if (r < 0 || (r = collector_save(c, "previous", err)) < 0)
			return r;
	}
	*ret = STEAL(c);
	return 0;
}

/* Samples until the target ends. An error ends sampling, except one that may pass, such as a full
 * disk; it never ends the command. */
static int collect(struct collector *c, struct target *target, struct error *err)
{
	struct pollfd fds[] = { { .fd = collector_fd(c), .events = POLLIN },
				{ .fd = target->signals, .events = POLLIN },
				{ .fd = target->pidfd, .events = POLLIN } };
	bool on = true;
	int r = 0;

	while (on && !target_ended(target)) {
		(void)poll(fds, ARRAY_SIZE(fds), COLLECTOR_SYNC_MS);
		r = collector_sync(c, false, err);
		on = r == 0 || collector_can_go_on(r);
	}
	if (r < 0 && !on)
		(void)collector_stop(c, NULL);
	else
		r = collector_stop(c, err);
	target_wait(target);
	return MIN(r, 0);
}

/* Returns whether samples lost to full CPU buffers may belong to other processes. */
static bool lost_for_others(const struct driver_stats *driver)
{
	return driver->sample_lost_overflow && driver->sample_filtered;
}

/* Prints a line for each kind of lost samples; returns their sum. */
static uint64_t print_losses(const struct driver_stats *driver, const struct record_stats *record)
{
	const struct counter *c;
	uint64_t all = 0;

	for (size_t i = 0; (c = counter_at(i)); i++) {
		uint64_t value = c->kind == COUNTER_LOST ? counter_value(c, driver, record) : 0;
		_cleanup_free_ char *text = counter_text(c);

		if (value)
			(void)fprintf(stderr, "operf: %" PRIu64 " %s\n", value, text);
		all += value;
	}
	if (lost_for_others(driver))
		(void)fprintf(stderr, "operf: some of the samples lost to full CPU buffers may "
				      "belong to other processes\n");
	return all;
}

static void print_no_samples(const struct collector *c, const struct target *target)
{
	size_t count;
	const struct event *event = collector_events(c, &count);
	double period_ms = 1e3 / (double)(event->rate_hz ?: rate_hz());

	if (target->kind == TARGET_COMMAND && event->is_timer)
		(void)fprintf(stderr,
			      "operf: no samples: the command used %.1f ms of CPU time, and a "
			      "sample is taken every %.1f ms; let it run longer, or raise --rate\n",
			      (double)target->cpu_ns / 1e6, period_ms);
	else if (event->is_timer)
		(void)fprintf(stderr, "operf: no samples: the target used almost no CPU time\n");
	else
		(void)fprintf(stderr, "operf: no samples: the event occurred too rarely; profile "
				      "longer, or lower the count\n");
}

/* @word, quoted for a shell; caller frees. */
static char *shell_word(const char *word)
{
	_cleanup_(strbuf_done) struct strbuf out = STRBUF_INIT;

	if (strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			 "/._-+:,@%=") == strlen(word))
		return xstrdup(word);
	strbuf_adds(&out, "'");
	for (; *word; word++)
		strbuf_adds(&out, *word == '\'' ? "'\\''" : (const char[]){ *word, '\0' });
	strbuf_adds(&out, "'");
	return strbuf_take(&out);
}

/* The option that merges all separations but one, because a report has columns for only one. */
static const char *merge_hint(void)
{
	bool thread = settings.separate & RECORD_SEPARATE_THREAD;
	bool cpu = settings.separate & RECORD_SEPARATE_CPU;
	bool cgroup = settings.separate & RECORD_SEPARATE_CGROUP;

	if (thread && cpu)
		return cgroup ? " --merge=cpu,cgroup" : " --merge=cpu";
	return cgroup && (thread || cpu) ? " --merge=cgroup" : "";
}

/* The command that shows the profile. */
static void print_hint(void)
{
	bool elsewhere = session_dir != default_dir;
	_cleanup_free_ char *word = elsewhere ? shell_word(session_dir) : NULL;

	(void)fprintf(stderr, "operf: see them with: opreport%s%s -l%s\n",
		      elsewhere ? " --session-dir=" : "", elsewhere ? word : "", merge_hint());
}

/* Prints what was sampled and lost, and how to see it. */
static void summarise(const struct collector *c, const struct target *target)
{
	struct driver_stats driver;
	struct record_stats record;
	uint64_t lost;

	collector_stats(c, &driver, &record);
	(void)fprintf(stderr, "Profiling done.\n");
	lost = print_losses(&driver, &record);
	if (driver.throttled)
		(void)fprintf(stderr,
			      "operf: warning: the kernel throttled sampling %" PRIu64
			      " times, for %.1f ms in all; sample less often\n",
			      driver.throttled, (double)driver.throttled_ns / 1e6);
	(void)fprintf(stderr, "operf: %" PRIu64 " samples, %s%" PRIu64 " lost\n",
		      record.samples - record.lost_samplefile,
		      lost_for_others(&driver) ? "at most " : "", lost);
	if (!record.samples && !lost)
		print_no_samples(c, target);
	else
		print_hint();
}

static bool is_among(const struct event *events, size_t count, const char *name)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(events[i].name, name))
			return true;
	return false;
}

/* Reports which driver takes the samples, as a warning if it is not the requested one. */
static void say_driver(const struct collector *c)
{
	struct event asked[EVENT_MAX];
	size_t count;
	const struct event *events = collector_events(c, &count);
	struct evderived derived;
	int i, n = specs.length ? event_parse_all(strbuf_text(&specs), asked, &derived, NULL) : 0;

	for (i = 0; i < n && is_among(events, count, asked[i].name); i++)
		;
	if (i < n)
		tool_warn("%s", collector_why(c));
	else
		log_info("%s", collector_why(c));
}

/* Announces a file that the target will run code of. */
static void expect(int fd, void *data)
{
	collector_expect(data, fd);
}

static int profile(struct target *target, struct parser *parser, struct error *err)
{
	_cleanup_(collector_freep) struct collector *c = NULL;
	int r = open_collector(target, parser, &c, err);

	if (r < 0)
		return r;
	if (settings.callgraph && collector_expects(c))
		target_files(target, expect, c);
	r = collector_start(c, err);
	if (r < 0)
		return r;
	say_driver(c);
	if (target->kind == TARGET_COMMAND && (r = target_release(target, err)) < 0)
		return r;
	(void)fprintf(stderr, "operf: Profiler started\n");
	if (target->kind != TARGET_COMMAND)
		(void)fprintf(stderr, "operf: Press Ctl-c or 'kill -SIGINT %d' to stop profiling\n",
			      getpid());
	r = collect(c, target, err);
	summarise(c, target);
	return r;
}

/* The kind of target; exits on contradicting options. */
static enum target_kind target_kind_of(char **command)
{
	int ways = system_wide + (pid != 0) + (*command != NULL);

	if (ways != 1)
		exit(tool_usage(
			ways ? "a command, --pid and --system-wide cannot be combined"
			     : "nothing to profile; give a command, --pid or --system-wide"));
	if (system_wide)
		return TARGET_SYSTEM;
	return pid ? TARGET_PROCESS : TARGET_COMMAND;
}

static int open_target(struct target *target, char **command, struct error *err)
{
	if (target->kind == TARGET_COMMAND)
		return target_command(target, command, err);
	return target->kind == TARGET_PROCESS ? target_process(target, pid, err)
					      : target_system(target, err);
}

/* Raises our priority, which only root may: on a busy machine the threads that build unwind tables
 * would wait for a CPU, and call chains would be cut short meanwhile. Returns by how much. */
static int raise_priority(void)
{
	int before = getpriority(PRIO_PROCESS, 0);

	(void)setpriority(PRIO_PROCESS, 0, before - PRIORITY);
	return before - getpriority(PRIO_PROCESS, 0);
}

/* Has later reports know the symbols of files that are rebuilt or removed. */
static void remember_symbols(void)
{
	/* What is wrong with the files is for reports to say. */
	if (!given[SETTING_VERBOSE].value)
		tool_verbose(LOG_LEVEL_ERROR);
	profile_keep_symbols(session_dir, session_owner_uid());
}

int main(int argc, char **argv)
{
	_cleanup_(parser_freep) struct parser *parser = NULL;
	_cleanup_(target_done) struct target target = TARGET_INIT;
	struct error err = ERROR_INIT;
	char **command = argv + tool_options(&cmdline, argc, argv);
	int r;

	target.kind = target_kind_of(command);
	settings = settings_default();
	/* Each was checked when it was given. */
	(void)settings_take(&settings, given, NULL);
	if (given[SETTING_VERBOSE].value)
		tool_verbose((enum log_level)settings.verbose);
	if (lazy)
		log_info("--lazy-conversion has no effect: samples are converted at once");
	if (settings.callgraph)
		target.raised = raise_priority();
	r = parser_new(&parser, &err);
	if (r == 0)
		r = open_target(&target, command, &err);
	if (r == 0)
		r = profile(&target, parser, &err);
	if (r == 0)
		remember_symbols();
	strbuf_done(&specs);
	settings_done(&settings);
	if (r < 0)
		(void)tool_fail(&err);
	return target_exit_status(&target, r);
}
