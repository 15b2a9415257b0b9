/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles a command, a process or the whole machine into its own session. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "control/settings.h"
#include "history/window.h"
#include "perf/probe.h"
#include "profile/profile.h"
#include "collect/collector.h"
#include "sfile/session.h"
#include "tools/common/target.h"
#include "tools/operf/helpers.h"
#include "tools/operf/processes.h"
#include "tools/operf/session_owner.h"
#include "tools/operf/summary.h"
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

static bool force, system_wide, append, lazy, quiet;
static struct evoffcpu off_cpu;
static const char *session_dir = default_dir, *vmlinux;
static const char *command_line; /* of this tool, for the headers of reports */
static struct processes chosen;	 /* running ones */
static int64_t duration_ms;	 /* 0: until the target ends */
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

static int set_duration(const char *arg, void *target, struct error *err)
{
	int64_t *ms = target;
	uint64_t seconds;

	if (parse_u64(arg, 0, 1 << 30, &seconds) == 0)
		*ms = (int64_t)seconds * 1000;
	else if (window_duration(arg, ms) < 0)
		*ms = 0;
	return *ms > 0 ? 0
		       : error_set(err, -EINVAL,
				   "--duration=%s: not a length of time, such as 10s or 1h30m",
				   arg);
}

static int set_off_cpu(const char *arg, void *to, struct error *err)
{
	struct error why = ERROR_INIT;

	if (evoffcpu_parse(arg ?: "", to, &why) < 0)
		return error_set(err, -EINVAL, "--off-cpu=%s: %s", arg, why.text);
	return 0;
}

/* clang-format off */
static const struct opt opts[] = {
	{ 0, NULL, OPT_HEADING, NULL, NULL, "What to profile", NULL },
	{ 'p', "pid", OPT_CALL, &chosen, "PID,...",
	  "profile running processes and the children that they fork, until they end or Ctrl-C",
	  processes_add },
	{ 0, "name", OPT_CALL, &chosen, "PATTERN",
	  "the same for each running process of this name: nginx, 'python*'",
	  processes_add_named },
	{ 0, "cgroup", OPT_CALL, &chosen, "PATH",
	  "the same for each process in this cgroup: nginx.service, '*CONTAINER-ID*'",
	  processes_add_cgroup },
	{ 's', "system-wide", OPT_FLAG, &system_wide, NULL,
	  "profile the whole machine, until Ctrl-C or while COMMAND runs" },
	{ 0, "duration", OPT_CALL, &duration_ms, "TIME",
	  "end the profile, and COMMAND, after TIME: 10s, 5m, 1h30m",
	  set_duration },
	{ 'e', "events", OPT_CALL, &specs, "EVENT,...",
	  "sample these: NAME[:count[:unitmask[:kernel[:user]]]]; the CPU's cycles by default",
	  add_events },
	{ 'F', "rate", OPT_CALL, &given[SETTING_RATE], "HZ",
	  "samples per second per CPU, by the clock (997 if nothing else samples)", setting_give },
	{ 0, "force", OPT_FLAG, &force, NULL, "allow samples less than 100 us apart" },
	{ 0, "driver", OPT_CALL, &given[SETTING_DRIVER], "NAME",
	  "driver that takes the samples: auto, bpf, perf (auto)", setting_give },
	{ 0, "off-cpu", OPT_CALL, &off_cpu, "[WHAT,...]",
	  "also measure where, and for how long, it is off the CPU, except waits for work (event "
	  "OFFCPU); reasons: an event for each reason; idle: with waits for work; blocked: without "
	  "waits for a CPU; wakers: also who ended each wait; min=5ms: without shorter ones",
	  set_off_cpu },
	{ 'g', "callgraph", OPT_CALL, &given[SETTING_CALLGRAPH], "[DEPTH]",
	  "record the call chain of every sample, up to DEPTH frames (255), also with the driver "
	  "perf; 0: none",
	  setting_give },
	{ 0, "callgraph-mode", OPT_CALL, &given[SETTING_CALLGRAPH_MODE], "auto|fp|table",
	  "find callers by frame pointers or by the images' unwind tables (auto)", setting_give },
	{ 0, "unwind-memory", OPT_CALL, &given[SETTING_UNWIND_MEMORY], "SIZE",
	  "memory for unwind tables; chains that need more are cut short (64M)", setting_give },
	{ 0, "attach-java", OPT_CALL, &given[SETTING_ATTACH_JAVA], "[0|1]",
	  "ask Java virtual machines that run without the agent for the names of their code (0)",
	  setting_give },
	{ 0, "cpu-buffer-size", OPT_CALL, &given[SETTING_CPU_BUF_SIZE], "WORDS",
	  "size of each CPU's buffer (0: default)", setting_give },
	{ 0, NULL, OPT_HEADING, NULL, NULL, "Output", NULL },
	{ 'd', "session-dir", OPT_PATH, &session_dir, "DIR",
	  "directory of the session (./oprofile_data)" },
	{ 'o', "output", OPT_PATH, &session_dir, "DIR", "the same, as perf record calls it" },
	{ 'a', "append", OPT_FLAG, &append, NULL,
	  "add to the session's current profile instead of moving it to \"previous\"" },
	{ 't', "separate-thread", OPT_CALL, &given[SETTING_SEPARATE_THREAD], NULL,
	  "separate samples by thread", setting_give },
	{ 'c', "separate-cpu", OPT_CALL, &given[SETTING_SEPARATE_CPU], NULL,
	  "separate samples by CPU", setting_give },
	{ 0, "separate-cgroup", OPT_CALL, &given[SETTING_SEPARATE_CGROUP], NULL,
	  "separate samples by cgroup: container, service", setting_give },
	{ 0, "separate-comm", OPT_CALL, &given[SETTING_SEPARATE_COMM], NULL,
	  "separate samples by the name of the thread", setting_give },
	{ 'k', "vmlinux", OPT_PATH, &vmlinux, "FILE",
	  "image of the running kernel, with symbols (default: /proc/kallsyms)" },
	{ 'q', "quiet", OPT_FLAG, &quiet, NULL, "print only warnings and errors" },
	{ 'l', "lazy-conversion", OPT_FLAG, &lazy, NULL,
	  "accepted without effect: samples are always converted at once" },
	{ 'V', "verbose", OPT_CALL, &given[SETTING_VERBOSE], "LEVEL,...",
	  "print more: debug, record, convert, misc, sfile, arcs, all", setting_give },
	OPT_END
};
/* clang-format on */

static const struct opt_cmdline cmdline = {
	.tool = "operf",
	.usage = "[OPTION]... COMMAND [ARGUMENT]... | --pid=PID,... | --system-wide [COMMAND]",
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

/* What --off-cpu requests, with the events of @named. */
static struct evoffcpu join_off_cpu(const struct evoffcpu *named)
{
	struct evoffcpu both = off_cpu;

	both.total |= named->total;
	both.reasons |= named->reasons;
	return both;
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
	if (evoffcpu_count(&off_cpu) && derived->event_count)
		return error_set(
			err, -EINVAL,
			"--off-cpu cannot be combined with events of %s: only one extended "
			"feature can be enabled",
			evderived_name(derived));
	if (evoffcpu_count(&off_cpu))
		derived->offcpu = join_off_cpu(&derived->offcpu);
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
			.scope = system_wide ? DRIVER_SYSTEM : cpus ? DRIVER_TREE : DRIVER_TASK,
			.pid = system_wide ? 0 : target->pid,
			.others = target->others,
			.other_count = target->other_count,
			.enable_on_exec = target->kind == TARGET_COMMAND && !system_wide,
			.timer_hz = rate_hz(),
			.force = force,
			.callgraph_depth = (unsigned int)settings.callgraph,
			.callgraph_unasked = !given[SETTING_CALLGRAPH].value,
			.callgraph_mode = (enum driver_chain_mode)settings.callgraph_mode,
			.unwind_bytes = settings.unwind_memory,
			.cpu_buffer_bytes = settings.cpu_buffer_size * sizeof(uint64_t),
		},
		.record = {
			.session_dir = directory,
			.session_name = "current",
			.command = command_line,
			.separate = RECORD_SEPARATE_LIB | RECORD_SEPARATE_KERNEL |
				    (unsigned int)settings.separate,
			.vmlinux = vmlinux,
			.keep_ms = settings.keep,
			.history_max = settings.max_history,
		},
		.functions_max = settings.max_symbols,
	};
}

/* Sets up the collector for @target. The current profile becomes "previous" unless appended to. */
static int open_collector(const struct target *target, const struct helpers *helpers,
			  struct collector **ret, struct error *err)
{
	_cleanup_(collector_freep) struct collector *c = NULL;
	_cleanup_free_ char *directory = path_absolute(session_dir);
	struct collector_config config = configure(target, directory);
	struct event events[EVENT_MAX];
	int r = choose_events(events, &config.drive.derived, err);

	if (r < 0)
		return r;
	config.parser = helpers->parser;
	config.opener = helpers->opener;
	config.keeper = helpers->keeper;
	config.attacher = helpers->attacher;
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
		r = session_set_aside(directory, "previous", err);
		if (r < 0 || (r = collector_save(c, "previous", err)) < 0)
			return r;
	}
	*ret = STEAL(c);
	return 0;
}

/* Samples until the target or --duration ends. An error ends sampling, except one that may pass,
 * such as a full disk; it never ends the command. */
static int collect(struct collector *c, struct target *target, struct error *err)
{
	struct pollfd fds[] = { { .fd = collector_fd(c), .events = POLLIN },
				{ .fd = target->signals, .events = POLLIN },
				{ .fd = target->processes, .events = POLLIN } };
	int64_t end_ms = duration_ms ? clock_now_ms() + duration_ms : INT64_MAX;
	int64_t left_ms;
	bool on = true;
	int r = 0;

	while (on && !target_ended(target) && (left_ms = end_ms - clock_now_ms()) > 0) {
		(void)poll(fds, ARRAY_SIZE(fds), (int)MIN(left_ms, COLLECTOR_SYNC_MS));
		r = collector_sync(c, false, err);
		on = r == 0 || collector_can_go_on(r);
	}
	if (r < 0 && !on)
		(void)collector_stop(c, NULL);
	else
		r = collector_stop(c, err);
	if (end_ms - clock_now_ms() <= 0)
		target_stop(target);
	target_wait(target);
	return MIN(r, 0);
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

/* Announces what the target will run code of, as far as it is known. */
static void expect_files(const struct target *target, struct opener *opener, struct collector *c)
{
	target_files(target, opener, expect, c);
	if (target->kind == TARGET_COMMAND)
		target_files_sampled(session_dir, opener, expect, c);
	if (system_wide && target->kind != TARGET_SYSTEM)
		target_files(&(struct target){ .kind = TARGET_SYSTEM }, opener, expect, c);
}

static void say_started(const struct target *target)
{
	(void)fprintf(stderr, "operf: Profiler started\n");
	if (target->kind != TARGET_COMMAND && !duration_ms)
		(void)fprintf(stderr,
			      "operf: Press Ctrl-C or 'kill -SIGINT %d' to stop profiling\n",
			      getpid());
}

static int profile(struct target *target, const struct helpers *helpers, struct error *err)
{
	_cleanup_(collector_freep) struct collector *c = NULL;
	int r = open_collector(target, helpers, &c, err);

	if (r < 0)
		return r;
	if (settings.callgraph && collector_expects(c))
		expect_files(target, helpers->opener, c);
	if ((r = collector_start(c, err)) < 0)
		return r;
	say_driver(c);
	if (target->kind == TARGET_COMMAND && (r = target_release(target, err)) < 0)
		return r;
	if (!quiet)
		say_started(target);
	r = collect(c, target, err);
	summary_print(&(struct summary){ .target = target,
					 .session_dir =
						 session_dir == default_dir ? NULL : session_dir,
					 .separate = settings.separate,
					 .rate_hz = rate_hz(),
					 .quiet = quiet },
		      c);
	return r;
}

/* The kind of target; exits on contradicting options. */
static enum target_kind target_kind_of(char **command)
{
	if (chosen.count && (system_wide || *command))
		exit(tool_usage("--pid, --name and --cgroup cannot be combined with a command or "
				"--system-wide"));
	if (!chosen.count && !system_wide && !*command)
		exit(tool_usage("nothing to profile; give a command, --pid or --system-wide"));
	if (*command)
		return TARGET_COMMAND;
	return chosen.count ? TARGET_PROCESS : TARGET_SYSTEM;
}

static int open_target(struct target *target, char **command, struct error *err)
{
	if (target->kind == TARGET_COMMAND)
		return target_command(target, command, err);
	target->may_be_gone = chosen.may_be_gone;
	return target->kind == TARGET_PROCESS
		       ? target_processes(target, chosen.pids, chosen.count, err)
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

/* Has later reports know the symbols and lines of files that are rebuilt or removed. */
static void remember_symbols(void)
{
	/* What is wrong with the files is for reports to say. */
	if (!given[SETTING_VERBOSE].value)
		tool_verbose(LOG_LEVEL_ERROR);
	profile_keep_symbols(session_dir, session_owner_uid());
	profile_keep_lines(session_dir, session_owner_uid());
}

/* The command line; caller frees. */
static char *join_words(int count, char **words)
{
	struct strbuf line = STRBUF_INIT;
	int i;

	strbuf_adds(&line, "operf");
	for (i = 1; i < count; i++)
		strbuf_addf(&line, " %s", words[i]);
	return strbuf_take(&line);
}

int main(int argc, char **argv)
{
	_cleanup_(helpers_done) struct helpers helpers = { 0 };
	_cleanup_(target_done) struct target target = TARGET_INIT;
	struct error err = ERROR_INIT;
	_cleanup_free_ char *line = join_words(argc, argv);
	char **command = argv + tool_options(&cmdline, argc, argv);
	int r;

	command_line = line;
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
	r = helpers_start(&helpers, settings.attach_java, &err);
	if (r == 0)
		r = open_target(&target, command, &err);
	if (r == 0)
		r = profile(&target, &helpers, &err);
	if (r == 0)
		remember_symbols();
	strbuf_done(&specs);
	free(chosen.pids);
	settings_done(&settings);
	if (r < 0)
		(void)tool_fail(&err);
	return target_exit_status(&target, r);
}
