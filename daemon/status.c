/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "status.h"

#include "base/clock.h"
#include "base/mem.h"
#include "file/procfs.h"
#include "control/server.h"
#include "control/settings.h"
#include "event/evderived.h"
#include "perf/cpulist.h"
#include "collect/collector.h"

#include <inttypes.h>
#include <string.h>

static void answer_event(const struct event *event, struct strbuf *answer)
{
	_cleanup_free_ char *text = event_text(event);

	control_answer(answer, "event", "%s", text);
}

static void answer_events(const struct status *status, struct strbuf *answer)
{
	size_t i, count;
	const struct event *events = collector_events(status->collector, &count);
	struct event derived;

	for (i = 0; i < count; i++)
		answer_event(&events[i], answer);
	for (i = 0; evderived_event(status->derived, i, &derived); i++)
		answer_event(&derived, answer);
}

static void answer_counter(const struct counter *c, uint64_t value, struct strbuf *answer)
{
	_cleanup_free_ char *text = counter_text(c, value);

	control_answer(answer, "counter", "%s %" PRIu64 " %s", c->name, value, text);
}

/* Adds the non-zero counters, each with its text, and the sum of the lost samples. */
static void answer_counters(const struct status *status, struct strbuf *answer)
{
	struct driver_stats driver;
	struct record_stats record;
	const struct counter *c;
	uint64_t lost = 0;

	collector_stats(status->collector, &driver, &record);
	for (size_t i = 0; (c = counter_at(i)); i++) {
		uint64_t value = counter_value(c, &driver, &record);

		if (value)
			answer_counter(c, value, answer);
		if (c->kind == COUNTER_LOST)
			lost += value;
	}
	control_answer(answer, "samples_received", "%" PRIu64, driver.sample_received);
	control_answer(answer, "samples_taken", "%" PRIu64,
		       driver.sample_received -
			       MIN(driver.sample_stretched, driver.sample_received));
	control_answer(answer, "samples_lost", "%" PRIu64, lost);
}

/* Adds the cost as a share of all CPUs' time, and how far samples are stretched. */
static void answer_cost(const struct status *status, struct strbuf *answer)
{
	struct governor_reading cost;

	collector_cost(status->collector, &cost);
	if (!collector_running(status->collector))
		cost = (struct governor_reading){ .stretch = 1, .highest = 1 };
	if (status->settings->budget > 0)
		control_answer(answer, "budget_percent", "%.15g", status->settings->budget * 100);
	control_answer(answer, "cost_percent", "%.3f", cost.all * 100);
	control_answer(answer, "cost_interrupts_percent", "%.3f", cost.interrupts * 100);
	control_answer(answer, "cost_program_percent", "%.3f", cost.program * 100);
	control_answer(answer, "cost_daemon_percent", "%.3f", cost.own * 100);
	control_answer(answer, "cost_worst_percent", "%.3f", cost.worst * 100);
	control_answer(answer, "interrupt_ns", "%.0f", cost.interrupt_ns);
	control_answer(answer, "stretch", "%.2f", cost.stretch);
	control_answer(answer, "stretch_highest", "%.2f", cost.highest);
	if (cost.starting)
		control_answer(answer, "budget_starting", "1");
	if (cost.exceeded)
		control_answer(answer, "budget_exceeded", "1");
}

/* Adds limits, their use, and what is shed to keep them. */
static void answer_quota(const struct status *status, struct strbuf *answer)
{
	struct quota_reading quota;

	collector_quota(status->collector, &quota);
	if (quota.limits.memory)
		control_answer(answer, "memory_max_kib", "%" PRIu64, quota.limits.memory / 1024);
	if (quota.limits.disk)
		control_answer(answer, "disk_max_kib", "%" PRIu64, quota.limits.disk / 1024);
	if (quota.limits.keep_free)
		control_answer(answer, "keep_free_kib", "%" PRIu64, quota.limits.keep_free / 1024);
	if (quota.limits.files)
		control_answer(answer, "descriptors_max", "%" PRIu64, quota.limits.files);
	control_answer(answer, "parser_kib", "%" PRIu64, quota.use.parser / 1024);
	control_answer(answer, "symbols_kib", "%" PRIu64,
		       collector_functions(status->collector) / 1024);
	control_answer(answer, "kernel_kib", "%" PRIu64, quota.use.kernel / 1024);
	control_answer(answer, "descriptors", "%" PRIu64, quota.use.files);
	control_answer(answer, "shed", "%s", quota_level_name(quota.level));
	if (quota.level != QUOTA_EASY)
		control_answer(answer, "shed_text", "%s ran short: %s", quota.what,
			       quota_level_meaning(quota.level));
}

/* Adds the longest time that the loop was busy, and those of its stages. */
static void answer_turns(const struct turn *turn, struct strbuf *answer)
{
	enum turn_stage stage;

	control_answer(answer, "busy_longest_ms", "%.1f", (double)turn_longest_ns(turn) / 1e6);
	for (stage = 0; stage < TURN_STAGE_COUNT_; stage++)
		if (turn->stages_ns[stage] >= 1000)
			control_answer(answer, "busy_stage", "%s %" PRIu64 " %s",
				       turn_stage_name(stage), turn->stages_ns[stage] / 1000,
				       turn_stage_text(stage));
}

static void answer_load(const struct status *status, struct strbuf *answer)
{
	struct driver_stats driver;
	struct record_stats record;
	struct meter_reading reading;
	size_t mapped, files = collector_open_files(status->collector, &mapped);

	collector_stats(status->collector, &driver, &record);
	meter_read(status->meter, driver.sample_received, &reading);
	if (!collector_running(status->collector))
		reading = (struct meter_reading){ 0 };
	answer_turns(&status->meter->turn, answer);
	control_answer(answer, "samples_per_s", "%.1f", reading.samples_per_s);
	control_answer(answer, "cpu_percent", "%.2f", reading.cpu_percent);
	answer_cost(status, answer);
	answer_quota(status, answer);
	control_answer(answer, "open_files", "%zu", files);
	control_answer(answer, "mapped_kib", "%zu", mapped / 1024);
	control_answer(answer, "hour_kib", "%zu", collector_hour_memory(status->collector) / 1024);
}

static void answer_history(const struct status *status, struct strbuf *answer)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	collector_history_trouble(status->collector, &text);
	if (text.length)
		control_answer(answer, "history_trouble", "%s", strbuf_text(&text));
}

void status_answer(const struct status *status, struct strbuf *answer)
{
	const struct settings *settings = status->settings;
	_cleanup_free_ char *separate = record_separate_text((unsigned int)settings->separate);

	control_answer(answer, "state", "%s",
		       collector_running(status->collector) ? "running" : "stopped");
	if (status->trouble)
		control_answer(answer, "trouble", "%s", status->trouble);
	answer_history(status, answer);
	control_answer(answer, "pid", "%d", (int)getpid());
	control_answer(answer, "uid", "%u", geteuid());
	control_answer(answer, "version", "%s", OPROFILE_VERSION);
	control_answer(answer, "driver", "%s", collector_why(status->collector));
	answer_events(status, answer);
	control_answer(answer, "separate", "%s", separate);
	if (settings->image_filter)
		control_answer(answer, "images", "%s", settings->image_filter);
	control_answer(answer, "session_dir", "%s", settings->session_dir);
	answer_load(status, answer);
	answer_counters(status, answer);
}

void status_answer_now(const struct status_now *now, struct strbuf *answer)
{
	uint64_t age_ns = now->now_ns - MIN(now->at_ns, now->now_ns), resident;
	_cleanup_free_ char *offline = cpulist_offline("");

	if (procfs_memory(NULL, 0, &resident, NULL) < 0)
		resident = 0;
	control_answer(answer, "uptime_s", "%" PRIu64, (now->now_ns - now->born_ns) / NS_PER_S);
	/* A daemon that does not sample sleeps until something changes. */
	if (now->running && age_ns > NS_PER_S)
		control_answer(answer, "age_s", "%.1f", (double)age_ns / 1e9);
	if (offline)
		control_answer(answer, "cpus_offline", "%s", offline);
	control_answer(answer, "resident_kib", "%" PRIu64, resident / 1024);
	control_answer(answer, "memory_kib", "%" PRIu64, (resident + now->other_bytes) / 1024);
}
