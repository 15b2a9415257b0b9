/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/xml/xml_head.h"

#include "base/mem.h"
#include "event/cpu_type.h"
#include "profile/print/losses.h"
#include "profile/print/report_header.h"
#include "profile/print/report.h"
#include "profile/print/session_facts.h"
#include "profile/xml/xml.h"

#include <string.h>

static void number_or_all(struct xml *x, const char *name, int64_t value)
{
	if (value != SNAME_ALL)
		xml_i64(x, name, value);
}

/* Whether class number @i is the first of its event. */
static bool is_new_event(const struct classes *c, size_t i)
{
	const struct class *a = &c->classes[i], *b = &c->classes[i ? i - 1 : 0];

	return i == 0 || strcmp(a->event, b->event) || a->count != b->count ||
	       a->unit_mask != b->unit_mask;
}

static void write_setup(struct xml *x, const struct report *r)
{
	size_t i, event = 0;

	xml_open(x, "setup");
	for (i = 0; i < r->classes->count; i++) {
		const struct class *c = &r->classes->classes[i];
		_cleanup_free_ char *text = report_header_class(r, i);
		const char *element = c->count ? "eventsetup" : "timersetup";

		if (!is_new_event(r->classes, i))
			continue;
		xml_open(x, element);
		xml_u64(x, "id", event++);
		xml_string(x, "eventname", c->event_text);
		number_or_all(x, "unitmask", c->unit_mask);
		if (c->count)
			xml_u64(x, "setupcount", (uint32_t)c->count);
		else if (r->timer_hz)
			xml_u64(x, "rate", r->timer_hz);
		xml_string(x, "description", text);
		xml_close(x, element);
	}
	xml_close(x, "setup");
}

static void write_classes(struct xml *x, const struct report *r)
{
	size_t i, event = 0;

	xml_open(x, "classes");
	for (i = 0; i < r->classes->count; i++) {
		const struct class *c = &r->classes->classes[i];
		char name[24];

		event += i && is_new_event(r->classes, i);
		(void)snprintf(name, sizeof(name), "c%zu", i);
		xml_open(x, "class");
		xml_string(x, "name", name);
		xml_u64(x, "event", event);
		if (c->host)
			xml_string(x, "host", c->host);
		if (c->task.cgroup)
			xml_string(x, "cgroup", c->task.cgroup);
		if (c->task.comm)
			xml_string(x, "comm", c->task.comm);
		number_or_all(x, "pid", c->task.tgid);
		number_or_all(x, "tid", c->task.tid);
		number_or_all(x, "cpu", c->task.cpu);
		xml_u64(x, "total", r->container->totals[i]);
		if (r->before)
			xml_u64(x, "before", r->container->before_totals[i]);
		xml_close(x, "class");
	}
	xml_close(x, "classes");
}

/* Writes what each host has of a loss, if the profile is of archives. */
static void write_parts(struct xml *x, const struct loss *loss)
{
	size_t i;

	for (i = 0; i < loss->part_count; i++) {
		xml_open(x, "part");
		xml_string(x, "host", loss->parts[i].host);
		xml_u64(x, "value", loss->parts[i].value);
		xml_close(x, "part");
	}
}

static void write_losses(struct xml *x, const struct losses *losses, size_t skipped)
{
	size_t i;

	if (!losses->count && !skipped)
		return;
	xml_open(x, "losses");
	if (skipped)
		xml_u64(x, "skippedfiles", skipped);
	for (i = 0; i < losses->count; i++) {
		xml_open(x, "loss");
		xml_string(x, "counter", losses->list[i].name);
		xml_u64(x, "value", losses->list[i].value);
		xml_string(x, "meaning", losses->list[i].meaning);
		write_parts(x, &losses->list[i]);
		xml_close(x, "loss");
	}
	xml_close(x, "losses");
}

/* Writes what the profile is compared with. */
static void write_comparison(struct xml *x, const struct report *r)
{
	xml_open(x, "comparison");
	xml_string(x, "first", r->before->words[0]);
	xml_string(x, "second", r->before->words[1]);
	xml_string(x, "compared", diff_by_meaning(r->view->compare_by));
	write_losses(x, r->before->losses, r->before->skipped);
	xml_close(x, "comparison");
}

static void write_fact(const struct session_fact *fact, void *data)
{
	xml_string(data, fact->name, fact->text);
}

static void note_fact(const struct session_fact *fact _unused_, void *data _unused_)
{
}

/* Writes what is known of the sessions, and of the window of time. */
static void write_sessions(struct xml *x, const struct report *r)
{
	size_t i;

	for (i = 0; i < r->gather->session_count; i++) {
		const struct gather_session *s = &r->gather->sessions[i];

		if (!session_facts_each(s, SESSION_FACTS_RECORDING, note_fact, NULL) && !s->history)
			continue;
		xml_open(x, "session");
		xml_string(x, "name", s->name);
		(void)session_facts_each(s, SESSION_FACTS_RECORDING, write_fact, x);
		if (s->history) {
			xml_open(x, "time");
			(void)session_facts_each(s, SESSION_FACTS_TIME, write_fact, x);
			xml_close(x, "time");
		}
		xml_close(x, "session");
	}
}

static void write_options(struct xml *x, const struct report *r)
{
	const struct report_option *o;

	xml_open(x, "options");
	for (o = r->view->options; o && o->name; o++)
		xml_string(x, o->name, o->value);
	xml_close(x, "options");
}

/* Opens the root element: what was profiled, on what. */
static void open_profile(struct xml *x, const struct report *r)
{
	const struct cpu_type *type = report_header_type(r);
	const char *key = type ? type->key : "unknown", *slash = strchr(key, '/');
	_cleanup_free_ char *family = xasprintf("%.*s", (int)strcspn(key, "/"), key);
	char mhz[32];

	xml_open(x, "profile");
	xml_string(x, "schemaversion", "4.0");
	xml_string(x, "cputype", family);
	xml_string(x, "processor", slash ? slash + 1 : NULL);
	if (r->header.cpu_mhz > 0) {
		(void)snprintf(mhz, sizeof(mhz), "%.2f", r->header.cpu_mhz);
		xml_string(x, "mhz", mhz);
	}
	xml_string(x, "title", r->view->command);
}

void xml_head(struct xml *x, const struct report *r)
{
	xml_declare(x);
	open_profile(x, r);
	write_options(x, r);
	write_setup(x, r);
	write_classes(x, r);
	write_sessions(x, r);
	write_losses(x, r->losses, r->skipped);
	if (r->before)
		write_comparison(x, r);
}
