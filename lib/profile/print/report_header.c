/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/report_header.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "event/cpu_type.h"
#include "event/event.h"
#include "profile/print/internal/chains_quality.h"
#include "profile/print/internal/header_lines.h"
#include "profile/print/losses.h"
#include "profile/print/report.h"
#include "profile/print/session_facts.h"
#include "profile/rows/chains.h"
#include "profile/rows/container.h"
#include "profile/select/cgroup_label.h"
#include "sfile/setup.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const struct cpu_type *report_header_type(const struct report *r)
{
	const struct cpu_type *named = NULL, *timer = cpu_type_named("timer");
	struct setup setup = { 0 };

	if (!r->gather || !r->gather->session_count ||
	    setup_read(r->gather->sessions[0].samples, &setup, NULL) < 0)
		return cpu_type_by_id(r->header.cpu_type);
	if (setup.cpu_type)
		named = cpu_type_named(setup.cpu_type);
	setup_done(&setup);
	if (named && (named->id == r->header.cpu_type || timer->id == r->header.cpu_type))
		return named;
	return cpu_type_by_id(r->header.cpu_type);
}

char *report_header_cpu(const struct report *r)
{
	const struct cpu_type *type = report_header_type(r);
	_cleanup_free_ char *name = type ? xstrdup(type->pretty)
					 : xasprintf("unknown type %" PRIu32, r->header.cpu_type);

	if (r->header.cpu_mhz <= 0)
		return xasprintf("CPU: %s", name);
	return xasprintf("CPU: %s, speed %.6g MHz (estimated)", name, r->header.cpu_mhz);
}

/* Prints that waits for work are among the time off the CPU: only the driver "bpf" knows them. */
static void print_idle_waits(const struct report *r, FILE *out)
{
	static const char perf[] = "perf";
	struct setup setup = { 0 };
	size_t i;

	for (i = 0; i < r->classes->count && !report_is_time(r, i);)
		i++;
	if (i == r->classes->count || !r->gather ||
	    setup_read(r->gather->sessions[0].samples, &setup, NULL) < 0)
		return;
	if (setup.driver && !strncmp(setup.driver, perf, sizeof(perf) - 1))
		(void)fputs("Note: time off the CPU includes idle waits; only the driver bpf knows "
			    "them\n",
			    out);
	setup_done(&setup);
}

/* Shorter periods do not wander. */
enum { COUNT_LEAST = 1000 };

char *report_header_class(const struct report *r, size_t class)
{
	const struct class *c = &r->classes->classes[class];
	uint64_t mask = c->unit_mask == SNAME_ALL ? 0 : (uint32_t)c->unit_mask;
	_cleanup_free_ char *text =
		event_describe(report_header_type(r), c->event_text, (uint32_t)c->count, mask);

	bool wanders = r->wander && (!c->count || c->count >= COUNT_LEAST);
	_cleanup_free_ char *wander =
		wanders ? xasprintf(" on average (it wanders by %" PRIu64 " %%)", r->wander)
			: xstrdup("");

	if (c->count || !r->timer_hz)
		return c->count ? xasprintf("%s%s", text, wander) : STEAL(text);
	return xasprintf("%s, %" PRIu64 " samples per second per CPU%s", text, r->timer_hz, wander);
}

/* The rate of the clock in a session, or 0. */
static uint64_t rate_of(const struct setup *s)
{
	uint64_t hz = 0;
	size_t i;

	for (i = 0; i < s->event_count && !hz; i++)
		hz = s->events[i].rate_hz;
	return hz;
}

static uint64_t wander_of(const struct setup *s)
{
	return s->wander;
}

/* What all sessions that have a setup say alike; 0 if they differ, or say nothing. */
static uint64_t common(const struct gather *g, uint64_t (*what)(const struct setup *s))
{
	uint64_t value = 0;
	bool any = false;
	size_t i;

	for (i = 0; i < g->session_count; i++) {
		struct setup setup = { 0 };
		uint64_t one;

		if (setup_read(g->sessions[i].samples, &setup, NULL) < 0)
			continue;
		one = what(&setup);
		setup_done(&setup);
		if (any && one != value)
			return 0;
		value = one;
		any = true;
	}
	return value;
}

uint64_t report_header_wander(const struct gather *g)
{
	return common(g, wander_of);
}

uint64_t report_header_timer_hz(const struct gather *g)
{
	return common(g, rate_of);
}

/* Adds what a session has to a list, " 1000 per second on web1, ...", if nothing in it is the same.
 * Returns whether it was added. */
static bool add_other(struct strbuf *list, const char *text, const char *host)
{
	_cleanup_free_ char *start = xasprintf(" %s on ", text);

	if (strstr(strbuf_text(list), start))
		return false;
	strbuf_adds(list, list->length ? "," : "");
	strbuf_adds(list, start);
	text_visible(list, host ?: "an unknown host");
	return true;
}

/* Prints in what sessions differ whose samples are added up nevertheless: samples of one clock that
 * ticks at several rates stand for different times, and CPUs of several types may count an event of
 * one name in several ways. */
static void print_differences(const struct report *r, FILE *out)
{
	_cleanup_(strbuf_done) struct strbuf rates = STRBUF_INIT, types = STRBUF_INIT;
	size_t i, rate_count = 0, type_count = 0;

	for (i = 0; r->gather && i < r->gather->session_count; i++) {
		const struct gather_session *s = &r->gather->sessions[i];
		struct setup setup = { 0 };
		_cleanup_free_ char *rate = NULL;

		if (setup_read(s->samples, &setup, NULL) < 0)
			continue;
		rate = xasprintf("%" PRIu64 " per second", rate_of(&setup));
		rate_count += rate_of(&setup) && add_other(&rates, rate, s->host);
		type_count += setup.cpu_type && add_other(&types, setup.cpu_type, s->host);
		setup_done(&setup);
	}
	if (rate_count > 1)
		(void)fprintf(out,
			      "Note: samples were taken at several rates, and are added up as "
			      "samples, not as time:%s\n",
			      strbuf_text(&rates));
	if (type_count > 1)
		(void)fprintf(out,
			      "Note: the CPUs are of several types, which may count an event "
			      "of one name in several ways:%s\n",
			      strbuf_text(&types));
}

static void print_cgroup(const struct report *r, const char *path, FILE *out)
{
	_cleanup_free_ char *label = path ? cgroup_label(r->gather->session_names, path) : NULL;
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	text_visible(&text, path ?: "all");
	if (label) {
		strbuf_adds(&text, ", which is ");
		text_visible(&text, label);
	}
	(void)fprintf(out, "Processes in the cgroup %s\n", strbuf_text(&text));
}

static void print_name(const char *what, const char *name, FILE *out)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	text_visible(&text, name);
	(void)fprintf(out, "%s %s\n", what, strbuf_text(&text));
}

static void print_task(const char *what, int64_t id, const char *comm, FILE *out)
{
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text, "%s %" PRId64, what, id);
	if (comm) {
		strbuf_adds(&text, ", ");
		text_visible(&text, comm);
	}
	(void)fprintf(out, "%s\n", strbuf_text(&text));
}

/* Prints what the columns differ in, if it is not the event. */
static void print_axis(const struct report *r, FILE *out)
{
	size_t i;

	for (i = 0; i < r->classes->count; i++) {
		const struct class *c = &r->classes->classes[i];

		switch (r->classes->axis) {
		case AXIS_HOST:
			print_name("Samples of the host", c->host ?: "unknown", out);
			break;
		case AXIS_CGROUP:
			print_cgroup(r, c->task.cgroup, out);
			break;
		case AXIS_COMM:
			print_name("Threads with the name", c->task.comm ?: "all", out);
			break;
		case AXIS_TGID:
			print_task("Process", c->task.tgid, c->comm, out);
			break;
		case AXIS_TID:
			print_task("Thread", c->task.tid, c->comm, out);
			break;
		case AXIS_CPU:
			(void)fprintf(out, "Samples on CPU %" PRId64 "\n", c->task.cpu);
			break;
		case AXIS_NONE:
		case AXIS_EVENT:
		case AXIS_COUNT_:
			break;
		}
	}
}

/* The counter that the line about quality is about. */
static const char stretched_name[] = "sample_stretched";

/* What is in the rows: samples, or microseconds off the CPU if @time. */
static uint64_t sum_of(const struct report *r, bool time)
{
	uint64_t sum = 0;
	size_t i;

	/* Chains are of one event, and their rows have a class for callees, too. */
	if (r->view && r->view->chains && r->chains)
		return report_is_time(r, 0) == time ? r->chains->samples : 0;
	for (i = 0; i < r->container->class_count; i++)
		sum += report_is_time(r, i) == time ? r->container->totals[i] : 0;
	return sum;
}

/* Prints how many of the samples that are @recorded were taken, how many were lost, and what that
 * cost. A driver may also receive samples of others, which are not recorded. */
static void print_quality(const struct report *r, uint64_t recorded, FILE *out)
{
	const struct losses *l = r->losses;
	uint64_t off_us = recorded ? 0 : sum_of(r, true);

	if (!l->received)
		return;
	if (off_us)
		(void)fprintf(out, "Quality: %.3f ms off the CPU", (double)off_us / 1000);
	else
		(void)fprintf(out, "Quality: %.0f samples taken",
			      (double)recorded / losses_weight(l));
	if (l->stretched && recorded)
		(void)fprintf(out,
			      ", which stand for %" PRIu64 " (the CPU budget skipped others [%s])",
			      recorded, stretched_name);
	if (l->samples)
		header_percent(", ", (double)l->samples / (double)(recorded + l->samples),
			       " % lost", out);
	else
		(void)fputs(", none lost", out);
	if (l->cost_of_ns)
		header_percent(", at a cost of ", (double)l->cost_ns / (double)l->cost_of_ns,
			       " % of the CPUs' time", out);
	(void)fputs("\n", out);
}

/* Whether a class is of waits whose lengths are not known. */
static bool has_unknown_waits(const struct container *c)
{
	size_t i;

	for (i = 0; c && i < c->class_count; i++)
		if (isinf(c->squares[i]))
			return true;
	return false;
}

static void add_measured(struct strbuf *out, const struct container *c, struct container_measured m)
{
	strbuf_addf(out, "%zu ", m.least);
	if (m.most != m.least)
		strbuf_addf(out, "to %zu ", m.most);
	strbuf_addf(out, "%s%s", c->blocks_are_sessions ? "sessions" : "parts of the time",
		    m.is_partial ? " (not for all columns)" : "");
}

/* Says of two profiles which ones are measured. */
static void add_measured_both(struct strbuf *out, const struct report *r,
			      struct container_measured m)
{
	const struct container *second = r->container, *first = second->first;
	struct container_measured was = report_measured(r, first);

	if (m.most)
		add_measured(out, second, m);
	else
		add_measured(out, first, was);
	if (!was.most || !m.most)
		strbuf_adds(out, m.most ? " in the second profile, not in the first"
					: " in the first profile, not in the second");
	else if (m.least != was.least || m.most != was.most || m.is_partial != was.is_partial ||
		 first->blocks_are_sessions != second->blocks_are_sessions) {
		strbuf_adds(out, " in the second profile, ");
		add_measured(out, first, was);
		strbuf_adds(out, " in the first");
	}
}

/* Prints where it is known from how much counts vary, if not from the number of samples alone. */
static void print_noise(const struct report *r, FILE *out)
{
	const struct container *c = r->container;
	_cleanup_(strbuf_done) struct strbuf text = STRBUF_INIT;
	struct container_measured m = report_measured(r, c);
	bool is_used = r->before || (r->view && (r->view->errors || r->trend));
	bool is_measured = m.most || (c->first && report_measured(r, c->first).most);

	if (is_used && !is_measured && (has_unknown_waits(c) || has_unknown_waits(c->first)))
		(void)fputs("Noise: unknown for time off the CPU, because single waits were not "
			    "recorded\n",
			    out);
	if (!is_measured)
		return;
	if (c->first)
		add_measured_both(&text, r, m);
	else
		add_measured(&text, c, m);
	(void)fprintf(out, "Noise: measured between %s\n", strbuf_text(&text));
}

/* Names, to a person, the reports that show the call chains of a flat profile. */
static void print_chains_hint(const struct report *r, FILE *out)
{
	const struct report_view *v = r->view;

	/* Annotation has no view. */
	if (v && v->terminal && !r->chains && !v->calls && !r->timeline && !r->trend &&
	    !r->before && r->gather && gather_has_chains(r->gather))
		(void)fputs("Call chains: --children, --callgraph or --html=FILE shows them\n",
			    out);
}

void report_header_text(const struct report *r, FILE *out)
{
	const struct losses *l = r->losses;
	_cleanup_free_ char *cpu = report_header_cpu(r);
	size_t i, events = r->classes->axis == AXIS_EVENT ? r->classes->count : 1;
	uint64_t recorded = l->recorded ?: sum_of(r, false);

	(void)fprintf(out, "%s\n", cpu);
	header_facts(r->gather, SESSION_FACTS_RECORDING, "", out);
	header_facts(r->gather, SESSION_FACTS_MACHINE, "", out);
	for (i = 0; i < events; i += r->classes->steps) {
		_cleanup_free_ char *text = NULL;

		if (i && class_same_event(&r->classes->classes[i - 1], &r->classes->classes[i]))
			continue;
		text = report_header_class(r, i);
		(void)fprintf(out, "%s\n", text);
	}
	print_idle_waits(r, out);
	print_differences(r, out);
	header_facts(r->gather, SESSION_FACTS_TIME, "", out);
	header_others(r->gather, "", out);
	if (!r->timeline && !r->trend)
		print_axis(r, out);
	if (r->skipped)
		(void)fprintf(out, "Note: %zu file%s could not be read and %s not in this report\n",
			      r->skipped, text_plural(r->skipped), r->skipped == 1 ? "is" : "are");
	if (r->gone)
		(void)fprintf(out,
			      "Note: %zu of %zu file%s gone, changed or not readable; shown with "
			      "the functions that they had when sampled\n",
			      r->gone, r->files, text_plural(r->files));
	print_quality(r, recorded, out);
	for (i = 0; i < l->count; i++)
		if (strcmp(l->list[i].name, stretched_name) != 0)
			header_loss(&l->list[i], (double)(recorded + l->samples), out);
	print_noise(r, out);
	if (r->chains)
		chains_quality_print(r, out);
	print_chains_hint(r, out);
	if (r->before)
		header_comparison(r, out);
}
