/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/print/json_head.h"

#include "base/json.h"
#include "base/mem.h"
#include "profile/print/losses.h"
#include "profile/print/report.h"
#include "profile/rows/chains.h"
#include "profile/select/cgroup_label.h"
#include "profile/print/report_header.h"
#include "profile/print/session_facts.h"

/* What each host has of a loss, if the profile is of archives. */
static void write_parts(const struct loss *loss, struct json *j)
{
	size_t i;

	if (!loss->part_count)
		return;
	json_open(j, "hosts", '[');
	for (i = 0; i < loss->part_count; i++) {
		json_open(j, NULL, '{');
		json_string(j, "host", loss->parts[i].host);
		json_u64(j, "value", loss->parts[i].value);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void json_losses(const struct losses *l, const char *name, struct json *j)
{
	size_t i;

	json_open(j, name, '[');
	for (i = 0; i < l->count; i++) {
		json_open(j, NULL, '{');
		json_string(j, "counter", l->list[i].name);
		json_u64(j, "value", l->list[i].value);
		json_string(j, "meaning", l->list[i].meaning);
		write_parts(&l->list[i], j);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_fact(const struct session_fact *fact, void *data)
{
	if (fact->is_number)
		json_number(data, fact->name, fact->text);
	else
		json_string(data, fact->name, fact->text);
}

static void note_fact(const struct session_fact *fact _unused_, void *data _unused_)
{
}

/* Whether anything but its name is known of a session. */
static bool is_known(const struct gather_session *s)
{
	return s->history || session_facts_each(s, SESSION_FACTS_RECORDING, note_fact, NULL);
}

void json_sessions(const struct gather *g, const char *name, struct json *j)
{
	bool is_open = false;
	size_t i;

	for (i = 0; g && i < g->session_count; i++) {
		const struct gather_session *s = &g->sessions[i];

		if (!is_known(s))
			continue;
		if (!is_open)
			json_open(j, name, '[');
		is_open = true;
		json_open(j, NULL, '{');
		json_string(j, "name", s->name);
		(void)session_facts_each(s, SESSION_FACTS_RECORDING, write_fact, j);
		if (s->history) {
			json_open(j, "time", '{');
			(void)session_facts_each(s, SESSION_FACTS_TIME, write_fact, j);
			json_close(j, '}');
		}
		json_close(j, '}');
	}
	if (is_open)
		json_close(j, ']');
}

void json_other_sessions(const struct gather *g, const char *name, struct json *j)
{
	size_t i;

	if (!g || !g->other_count)
		return;
	json_open(j, name, '[');
	for (i = 0; i < g->other_count; i++)
		json_string(j, NULL, g->others[i]);
	json_close(j, ']');
}

static void write_number_or_all(struct json *j, const char *name, int64_t value)
{
	if (value == SNAME_ALL)
		json_string(j, name, "all");
	else
		json_i64(j, name, value);
}

static void write_cgroup(const struct report *r, struct json *j, const char *path)
{
	_cleanup_free_ char *label = path ? cgroup_label(r->gather->session_names, path) : NULL;

	if (path)
		json_string(j, "cgroup", path);
	if (label)
		json_string(j, "container", label);
}

static void write_classes(const struct report *r, struct json *j)
{
	size_t i, steps = r->classes->steps;

	json_open(j, "classes", '[');
	for (i = 0; i < r->classes->count; i += steps) {
		const struct class *c = &r->classes->classes[i];
		_cleanup_free_ char *text = report_header_class(r, i);

		json_open(j, NULL, '{');
		json_string(j, "event", c->event_text);
		json_u64(j, "count", (uint32_t)c->count);
		if (c->unit_mask == SNAME_ALL)
			json_string(j, "unit_mask", "all");
		else
			json_hex(j, "unit_mask", (uint32_t)c->unit_mask);
		if (c->host)
			json_string(j, "host", c->host);
		write_cgroup(r, j, c->task.cgroup);
		if (c->task.comm)
			json_string(j, "comm", c->task.comm);
		write_number_or_all(j, "tgid", c->task.tgid);
		write_number_or_all(j, "tid", c->task.tid);
		write_number_or_all(j, "cpu", c->task.cpu);
		if (c->comm)
			json_string(j, "thread_name", c->comm);
		if (report_is_time(r, i))
			json_string(j, "unit", "us");
		json_string(j, "text", text);
		json_u64(j, "samples", container_sum(r->container->totals + i, steps));
		json_close(j, '}');
	}
	json_close(j, ']');
}

void json_noise(const struct report *r, const struct container *c, const char *name, struct json *j)
{
	struct container_measured m = report_measured(r, c);

	if (!m.most)
		return;
	json_open(j, name, '{');
	json_u64(j, "blocks", m.least);
	json_string(j, "of", c->blocks_are_sessions ? "sessions" : "time");
	json_close(j, '}');
}

void json_head(const struct report *r, struct json *j)
{
	_cleanup_free_ char *cpu = report_header_cpu(r);

	json_string(j, "format", "opreport-1");
	json_string(j, "cpu", cpu);
	json_sessions(r->gather, "sessions", j);
	json_other_sessions(r->gather, "other_sessions", j);
	write_classes(r, j);
	json_losses(r->losses, "losses", j);
	json_u64(j, "skipped_files", r->skipped);
	if (r->gone)
		json_u64(j, "gone_files", r->gone);
	json_noise(r, r->container, "noise", j);
}

/* Writes chains that end for one reason; in an image that is GATHER_NONE, in other images. */
static void write_chain_end(const struct report *r, const struct chains_quality *q, struct json *j)
{
	const struct chains *c = r->chains;

	json_open(j, NULL, '{');
	json_string(j, "end", c->ends[q->end].name);
	json_string(j, "meaning", c->ends[q->end].meaning);
	json_string(j, "image",
		    q->image == GATHER_NONE ? "(other images)"
					    : gather_image_name(r->gather, q->image, true));
	json_bool(j, "complete", c->ends[q->end].mark == NULL);
	json_u64(j, "samples", q->samples);
	json_double(j, "percent", container_share(q->samples, c->samples));
	json_close(j, '}');
}

void json_chain_ends(const struct report *r, const char *name, size_t most, struct json *j)
{
	const struct chains *c = r->chains;
	_cleanup_free_ size_t *listed = xcalloc(c->end_count + 1, sizeof(*listed));
	_cleanup_free_ uint64_t *others = xcalloc(c->end_count + 1, sizeof(*others));
	size_t i;

	json_open(j, name, '[');
	for (i = 0; i < c->quality_count; i++)
		if (listed[c->quality[i].end]++ < most)
			write_chain_end(r, &c->quality[i], j);
		else
			others[c->quality[i].end] += c->quality[i].samples;
	for (i = 0; i < c->end_count; i++)
		if (others[i])
			write_chain_end(
				r, &(struct chains_quality){ GATHER_NONE, (uint32_t)i, others[i] },
				j);
	json_close(j, ']');
}
