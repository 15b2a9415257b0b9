/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts events of a command, of processes, threads, CPUs or the machine, without sampling. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/parse.h"
#include "base/text.h"
#include "perf/counting.h"
#include "perf/perf_pmus.h"
#include "tools/ocount/ocount_events.h"
#include "tools/ocount/ocount_places.h"
#include "tools/ocount/ocount_report.h"
#include "tools/common/target.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { LOOK_MS = 100 }; /* how often to look whether processes have ended */

static bool system_wide, separate_thread, separate_cpu, brief, json;
static const char *process_list, *thread_list, *cpu_list, *output_file;
static struct strbuf specs; /* of all --events, joined by commas */
static struct ocount_events events;

static struct interval {
	uint64_t length_ms; /* 0: none */
	uint64_t count;	    /* 0: until the end */
} interval;

static int add_events(const char *arg, void *target, struct error *err)
{
	struct strbuf *all = target;

	if (!*arg)
		return error_set(err, -EINVAL, "--events: the list of events is empty");
	strbuf_addf(all, "%s%s", all->length ? "," : "", arg);
	return 0;
}

static int set_interval(const char *arg, void *target, struct error *err)
{
	_cleanup_free_ char *length = xstrndup(arg, strcspn(arg, ":"));
	struct interval *to = target;
	const char *count = strchr(arg, ':');

	if (parse_u64(length, 1, INT32_MAX, &to->length_ms) < 0 ||
	    (count && parse_u64(count + 1, 1, INT32_MAX, &to->count) < 0))
		return error_set(err, -EINVAL,
				 "--time-interval=%s: not MS or MS:N, milliseconds and number of "
				 "intervals",
				 arg);
	return 0;
}

static const struct opt opts[] = {
	{ 0, NULL, OPT_HEADING, NULL, NULL, "Where to count", NULL },
	{ 's', "system-wide", OPT_FLAG, &system_wide, NULL, "all CPUs, until Ctrl-C" },
	{ 'p', "process-list", OPT_STRING, &process_list, "PID,...",
	  "running processes and their children, until they end or Ctrl-C" },
	{ 'r', "thread-list", OPT_STRING, &thread_list, "TID,...",
	  "these threads, until they end or Ctrl-C" },
	{ 'C', "cpu-list", OPT_STRING, &cpu_list, "LIST", "these CPUs (0-3,5), until Ctrl-C" },
	{ 0, NULL, OPT_HEADING, NULL, NULL, "What to count", NULL },
	{ 'e', "events", OPT_CALL, &specs, "EVENT,...",
	  "these: NAME[:unitmask[:kernel[:user]]]; by default the CPU's cycles and instructions, "
	  "CPU time, page faults, context switches and migrations",
	  add_events },
	{ 't', "separate-thread", OPT_FLAG, &separate_thread, NULL,
	  "count each thread separately (with --process-list or --thread-list)" },
	{ 'c', "separate-cpu", OPT_FLAG, &separate_cpu, NULL,
	  "count each CPU separately (with --system-wide or --cpu-list)" },
	{ 'i', "time-interval", OPT_CALL, &interval, "MS[:N]",
	  "print the counts every MS milliseconds, at most N times", set_interval },
	{ 0, NULL, OPT_HEADING, NULL, NULL, "Output", NULL },
	{ 'b', "brief-format", OPT_FLAG, &brief, NULL, "lines of [CPU or thread,]event,count,%" },
	{ 0, "json", OPT_FLAG, &json, NULL, "one JSON object per line" },
	{ 'f', "output-file", OPT_PATH, &output_file, "FILE", "write to a file" },
	TOOL_VERBOSE_OPTION,
	OPT_END
};

static const struct opt_cmdline cmdline = {
	.tool = "ocount",
	.usage = "[OPTION]... COMMAND [ARGUMENT]... | --system-wide | --process-list=PID,... | "
		 "--thread-list=TID,... | --cpu-list=LIST",
	.summary = "Count events of a command, processes, threads, CPUs or the machine.",
	.opts = opts,
	.stop_at_operand = true,
};

/* A run: the counters, and their last values. */
struct run {
	struct target target;
	struct ocount_places places;
	struct counting *counting;
	struct counting_value *before, *now; /* [place * event_count + event] */
	enum ocount_axis axis;
	uint64_t since_ns; /* start of the interval */
	FILE *out;
};

static void run_done(struct run *run)
{
	target_done(&run->target);
	counting_free(run->counting);
	ocount_places_done(&run->places);
	ocount_events_done(&events);
	strbuf_done(&specs);
	free(run->before);
	free(run->now);
	if (run->out && run->out != stdout)
		(void)fclose(run->out); /* report() has seen any failure */
}

/* Finds the places to count at; a command waits until it is released. */
static int find_places(struct run *run, char **command, struct error *err)
{
	int r;

	run->target.kind = *command ? TARGET_COMMAND : TARGET_SYSTEM;
	r = *command ? target_command(&run->target, command, err)
		     : target_system(&run->target, err);
	if (r < 0)
		return r;
	if (*command)
		ocount_places_command(&run->places, run->target.pid, command);
	else if (process_list)
		r = ocount_places_processes(&run->places, process_list, err);
	else if (thread_list)
		r = ocount_places_threads(&run->places, thread_list, err);
	else if (cpu_list)
		r = ocount_places_cpus(&run->places, cpu_list, err);
	else
		r = ocount_places_system(&run->places, err);
	return r;
}

/* Reports, once per reason, which of the default events are not counted. */
static void tell_missing(const struct counting *c)
{
	size_t i, k;

	for (i = 0; i < events.count; i++) {
		_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
		const char *why = counting_why_not(c, i);

		for (k = 0; why && k < events.count; k++) {
			const char *other = counting_why_not(c, k);

			if (!other || strcmp(why, other))
				continue;
			if (k < i)
				break; /* reported with that one */
			strbuf_addf(&names, "%s%s", names.length ? ", " : "", events.labels[k]);
		}
		if (names.length)
			(void)fprintf(stderr, "ocount: not counted: %s: %s\n", strbuf_text(&names),
				      why);
	}
}

static void tell_user_only(const struct counting *c)
{
	_cleanup_(strbuf_done) struct strbuf names = STRBUF_INIT;
	size_t i;

	for (i = 0; i < events.count; i++)
		if (counting_user_only(c, i))
			strbuf_addf(&names, "%s%s", names.length ? ", " : "", events.labels[i]);
	if (names.length)
		tool_warn("%s: only user space is counted, because this user may not count in the "
			  "kernel; allow it with sysctl kernel.perf_event_paranoid=1",
			  strbuf_text(&names));
}

/* Parses the given events, or the defaults, of which some may be missing. */
static int parse_events(struct error *err)
{
	if (specs.length)
		return ocount_events_add(&events, strbuf_text(&specs), err);
	ocount_events_add_defaults(&events);
	return 0;
}

static int open_events(struct run *run, struct error *err)
{
	const struct ocount_places *places = &run->places;
	bool command = places->kind == OCOUNT_COMMAND;
	struct counting_config config = {
		.places = places->places,
		.place_count = places->count,
		.inherit = command || (places->kind == OCOUNT_PROCESSES && !separate_thread),
		.enable_on_exec = command,
		.optional = !specs.length,
		.events = events.events,
		.event_count = events.count,
	};
	int r = counting_open(&config, &run->counting, err);

	if (r < 0)
		return r;
	run->before = xcalloc(places->count * events.count, sizeof(*run->before));
	run->now = xcalloc(places->count * events.count, sizeof(*run->now));
	run->axis = separate_cpu      ? OCOUNT_BY_CPU
		    : separate_thread ? OCOUNT_BY_THREAD
				      : OCOUNT_TOGETHER;
	tell_missing(run->counting);
	tell_user_only(run->counting);
	log_info("%zu event%s in %zu place%s", events.count, text_plural(events.count),
		 places->count, text_plural(places->count));
	return 0;
}

/* Prints the counts since the last call. */
static int report(struct run *run, struct error *err)
{
	size_t i, places = run->places.count, rows = run->axis == OCOUNT_TOGETHER ? 1 : places;
	_cleanup_free_ struct counting_value *since =
		xcalloc(places * events.count, sizeof(*since));
	_cleanup_free_ struct counting_sum *sums = xcalloc(rows * events.count, sizeof(*sums));
	const char *why_not[EVENT_MAX];
	uint64_t now_ns = clock_now_ns();
	int r = counting_read(run->counting, run->now, err);

	if (r < 0)
		return r;
	for (i = 0; i < places * events.count; i++) {
		since[i] = counting_since(&run->now[i], &run->before[i]);
		run->before[i] = run->now[i];
	}
	for (i = 0; i < events.count; i++)
		why_not[i] = counting_why_not(run->counting, i);
	ocount_report_sum(since, places, events.count, run->axis, sums);
	ocount_report_print(
		&(struct ocount_report){
			.title = run->places.title,
			.labels = events.labels,
			.why_not = why_not,
			.event_count = events.count,
			.axis = run->axis,
			.numbers = run->places.numbers,
			.row_count = rows,
			.sums = sums,
			.watchdog = perf_pmus_watchdog(""),
			.elapsed_ns = now_ns - run->since_ns,
			.at_ns = interval.length_ms ? clock_ns(CLOCK_REALTIME) : 0,
		},
		json	? OCOUNT_JSON
		: brief ? OCOUNT_BRIEF
			: OCOUNT_TABLE,
		run->out);
	run->since_ns = now_ns;
	return tool_flush(run->out, output_file, err);
}

/* Waits for a signal, the end of the command, @deadline_ns or a while. Returns whether the target
 * has ended. */
static bool wait_until(struct run *run, uint64_t deadline_ns)
{
	struct pollfd fd = { .fd = run->target.signals, .events = POLLIN };
	uint64_t now_ns = clock_now_ns(), left_ms = LOOK_MS;

	if (deadline_ns)
		left_ms = deadline_ns > now_ns ? (deadline_ns - now_ns + 999999) / 1000000 : 0;
	(void)poll(&fd, 1, (int)MIN(left_ms, (uint64_t)LOOK_MS));
	return target_ended(&run->target) || ocount_places_ended(&run->places);
}

/* Counts until the target ends, interval by interval if requested. */
static int count(struct run *run, struct error *err)
{
	const uint64_t length_ns = interval.length_ms * 1000000;
	uint64_t deadline_ns = length_ns ? run->since_ns + length_ns : 0, intervals = 0;
	bool ended = false;
	int r = 0;

	while (!ended && r == 0) {
		ended = wait_until(run, deadline_ns);
		if (!ended && (!length_ns || clock_now_ns() < deadline_ns))
			continue;
		ended |= ++intervals == interval.count;
		if (ended)
			counting_stop(run->counting);
		r = report(run, err);
		deadline_ns += length_ns;
	}
	target_wait(&run->target);
	return r;
}

static int open_output(struct run *run, struct error *err)
{
	run->out = output_file ? fopen(output_file, "we") : stdout;
	return run->out ? 0 : error_errno(err, -errno, "%s", output_file);
}

static int run_all(struct run *run, char **command, struct error *err)
{
	int r = parse_events(err);

	if (r < 0 || (r = open_output(run, err)) < 0)
		return r;
	if ((r = find_places(run, command, err)) < 0 || (r = open_events(run, err)) < 0)
		return r;
	run->since_ns = clock_now_ns();
	if (*command)
		r = target_release(&run->target, err);
	else
		counting_start(run->counting);
	return r < 0 ? r : count(run, err);
}

/* Exits on options that contradict each other. */
static void check_options(char **command)
{
	int ways = system_wide + (process_list != NULL) + (thread_list != NULL) +
		   (cpu_list != NULL) + (*command != NULL);

	if (ways != 1)
		exit(tool_usage(ways ? "a command, --system-wide, --process-list, --thread-list "
				       "and --cpu-list cannot be combined"
				     : "nothing to count; give a command, --system-wide, "
				       "--process-list, --thread-list or --cpu-list"));
	if (separate_thread && !process_list && !thread_list)
		exit(tool_usage("--separate-thread needs --process-list or --thread-list"));
	if (separate_cpu && !system_wide && !cpu_list)
		exit(tool_usage("--separate-cpu needs --system-wide or --cpu-list"));
	if (brief && json)
		exit(tool_usage("--brief-format and --json cannot be combined"));
}

int main(int argc, char **argv)
{
	_cleanup_(run_done) struct run run = { .target = TARGET_INIT };
	char **command = argv + tool_options(&cmdline, argc, argv);
	struct error err = ERROR_INIT;
	int r;

	check_options(command);
	r = run_all(&run, command, &err);
	if (r < 0)
		(void)tool_fail(&err);
	return target_exit_status(&run.target, r);
}
