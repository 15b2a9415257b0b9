/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/operf/summary.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "collect/collector.h"
#include "stats/counters.h"
#include "tools/common/target.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
		_cleanup_free_ char *text = counter_text(c, value);

		if (value)
			(void)fprintf(stderr, "operf: %" PRIu64 " %s\n", value, text);
		all += value;
	}
	if (lost_for_others(driver))
		(void)fprintf(stderr, "operf: some of the samples lost to full CPU buffers may "
				      "belong to other processes\n");
	return all;
}

/* How many periods a command may work without a sample by chance. */
static const double chance_periods = 20;

/* Whether the kernel ends the events of a user in the command: its program may not be read, or
 * changes its user. */
static bool is_closed(const struct target *t)
{
	struct stat st;

	return t->kind == TARGET_COMMAND && geteuid() && t->path &&
	       (access(t->path, R_OK) < 0 ||
		(stat(t->path, &st) == 0 && st.st_mode & (S_ISUID | S_ISGID)));
}

/* Says why a command has no samples of the clock. */
static void print_no_ticks(const struct event *event, double period_ms, double used_ms)
{
	if (!event->kernel && used_ms > chance_periods * period_ms)
		(void)fprintf(stderr,
			      "operf: no samples of %.1f ms of CPU time: probably nearly all of it "
			      "was in the kernel, which only root may sample here\n",
			      used_ms);
	else
		(void)fprintf(stderr,
			      "operf: no samples: the command used %.1f ms of CPU time, and a "
			      "sample is taken every %.1f ms; let it run longer, or raise --rate\n",
			      used_ms, period_ms);
}

static void print_no_samples(const struct summary *s, const struct collector *c)
{
	size_t count;
	const struct event *event = collector_events(c, &count);
	double period_ms = 1e3 / (double)(event->rate_hz ?: s->rate_hz);
	double used_ms = (double)s->target->cpu_ns / 1e6;

	if (is_closed(s->target))
		(void)fprintf(stderr,
			      "operf: no samples of %.1f ms of CPU time: only root can sample a "
			      "program that the user may not read, or that changes its user\n",
			      used_ms);
	else if (event->is_timer && s->target->kind == TARGET_COMMAND)
		print_no_ticks(event, period_ms, used_ms);
	else if (event->is_timer)
		(void)fprintf(stderr, "operf: no samples: the target used almost no CPU time\n");
	else
		(void)fprintf(stderr, "operf: no samples: the event occurred too rarely; profile "
				      "longer, or lower the count\n");
}

/* The option that merges all separations but one, because a report has columns for only one. */
static const char *merge_hint(unsigned int separate)
{
	bool thread = separate & RECORD_SEPARATE_THREAD;
	bool cpu = separate & RECORD_SEPARATE_CPU;
	bool cgroup = separate & RECORD_SEPARATE_CGROUP;

	if (thread && cpu)
		return cgroup ? " --merge=cpu,cgroup" : " --merge=cpu";
	return cgroup && (thread || cpu) ? " --merge=cgroup" : "";
}

/* Prints how much was sampled, and the command that shows the profile. */
static void print_result(const struct summary *s, const struct driver_stats *driver,
			 const struct record_stats *record, uint64_t lost)
{
	uint64_t samples = record->samples - record->lost_samplefile;
	_cleanup_(strbuf_done) struct strbuf directory = STRBUF_INIT;
	_cleanup_free_ char *taken = text_count(samples, "sample");
	_cleanup_free_ char *intervals = text_count(driver->offcpu_intervals, "interval");

	if (s->session_dir) {
		strbuf_adds(&directory, " --session-dir=");
		text_shell_word(&directory, s->session_dir);
	}
	(void)fprintf(stderr, "operf: %s, %s%" PRIu64 " lost", taken,
		      lost_for_others(driver) ? "at most " : "", lost);
	if (driver->offcpu_intervals)
		(void)fprintf(stderr, "; %.1f ms off the CPU in %s",
			      (double)record->feature.offcpu_us / 1000, intervals);
	(void)fputc('\n', stderr);
	(void)fprintf(stderr, "operf: see them with: opreport%s -l%s\n", strbuf_text(&directory),
		      merge_hint(s->separate));
}

void summary_print(const struct summary *s, const struct collector *c)
{
	struct driver_stats driver;
	struct record_stats record;
	uint64_t lost;

	collector_stats(c, &driver, &record);
	if (!s->quiet)
		(void)fprintf(stderr, "Profiling done.\n");
	lost = print_losses(&driver, &record);
	if (driver.throttled)
		(void)fprintf(stderr,
			      "operf: warning: the kernel throttled sampling %" PRIu64
			      " times, for %.1f ms in all; sample less often\n",
			      driver.throttled, (double)driver.throttled_ns / 1e6);
	if (!record.samples && !lost && !driver.offcpu_intervals)
		print_no_samples(s, c);
	else if (!s->quiet)
		print_result(s, &driver, &record, lost);
}
