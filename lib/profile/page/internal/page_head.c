/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/page/internal/page_head.h"

#include "base/json.h"
#include "base/macro.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "history/history.h"
#include "profile/print/json_head.h"
#include "profile/print/losses.h"
#include "profile/print/report.h"
#include "profile/print/report_header.h"
#include "profile/rows/chains.h"
#include "profile/rows/task_list.h"
#include "profile/rows/unresolved.h"
#include "profile/select/cgroup_label.h"
#include "sfile/setup.h"

#include <stdlib.h>
#include <string.h>

/* The steps of time of the report. */
static struct steps steps_of(const struct report *r)
{
	return r->view->chains ? r->chains->steps : r->gather->steps;
}

static uint64_t samples_of(const struct report *r)
{
	return r->view->chains ? r->chains->samples
			       : container_sum(r->container->totals, r->container->class_count);
}

/* --- how it was measured --- */

/* Writes the lines that opreport prints above a report, as an array. */
static void write_header(const struct report *r, struct json *j)
{
	_cleanup_free_ char *text = NULL;
	struct classes classes = *r->classes;
	struct report own = *r;
	char *line, *rest;
	size_t size = 0;
	FILE *memory = xmemstream(&text, &size);

	classes.axis = AXIS_NONE; /* tasks are elsewhere on the page */
	own.classes = &classes;
	report_header_text(&own, memory);
	xmemstream_close(memory, &text);
	json_open(j, "header", '[');
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		json_string(j, NULL, line);
	json_close(j, ']');
}

static void write_setup(const struct report *r, struct json *j)
{
	struct setup setup = { 0 };

	if (setup_read(r->gather->sessions[0].samples, &setup, NULL) < 0)
		return;
	json_u64(j, "cpus", setup.cpus);
	json_string(j, "kernel", setup.kernel);
	json_string(j, "driver", setup.driver);
	json_string(j, "separate", setup.separate);
	setup_done(&setup);
}

/* Writes the boot that each session is of, as pairs with its name, if there are several. */
static void write_boots(const struct report *r, struct json *j)
{
	size_t i;

	json_open(j, "boots", '[');
	for (i = 0; i < r->gather->session_count && r->gather->session_count > 1; i++) {
		struct setup setup = { 0 };

		if (setup_read(r->gather->sessions[i].samples, &setup, NULL) < 0)
			continue;
		json_open(j, NULL, '[');
		json_bytes(j, NULL, r->gather->sessions[i].name);
		json_string(j, NULL, setup.boot_id);
		json_close(j, ']');
		setup_done(&setup);
	}
	json_close(j, ']');
}

/* An option that was given on the command line, or NULL. */
static const char *option_of(const struct report *r, const char *name)
{
	const struct report_option *o;

	for (o = r->view->options; o && o->name; o++)
		if (o->value && !strcmp(o->name, name))
			return o->value;
	return NULL;
}

/* Writes the words of the command line that select what the page shows, and then those that say
 * which functions it has. Both are for a shell; the form is not in them. */
static void write_command(const struct report *r, struct json *j)
{
	static const char *const shown[][2] = {
		{ "sessiondir", " --session-dir=" },
		{ "imagepath", " --image-path=" },
		{ "root", " --root=" },
	};
	_cleanup_(strbuf_done) struct strbuf selection = STRBUF_INIT;
	const char *words = option_of(r, "specification"), *names = option_of(r, "demangle");
	bool is_usual = !names || !strcmp(names, "normal");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shown); i++) {
		const char *value = option_of(r, shown[i][0]);

		if (!value)
			continue;
		strbuf_adds(&selection, shown[i][1]);
		text_shell_word(&selection, value);
	}
	if (words)
		strbuf_addf(&selection, " %s", words);
	json_string(j, "selection", strbuf_text(&selection));
	strbuf_clear(&selection);
	if (option_of(r, "inlines"))
		strbuf_adds(&selection, " --inlines");
	if (!is_usual)
		strbuf_addf(&selection, " --demangle=%s", names);
	json_string(j, "options", strbuf_text(&selection));
}

/* --- when --- */

/* What the histories of the sessions know of each step. */
struct step_facts {
	const struct steps *steps;
	struct history_cover *cover;
	uint64_t *sampled; /* samples of the event of the chains, also those without a chain */
};

static bool wants_no_keys(const struct sname *name _unused_, void *data _unused_)
{
	return false;
}

/* Adds the samples that sample files counted, of the same event and selection as the chains. */
static void add_sampled(const struct chains *c, const struct history *h, uint64_t *sampled)
{
	size_t i, k;

	for (i = 0; i < history_files(h); i++) {
		const struct history_file *f = history_file_at(h, i);

		if (!chains_select(c, &f->about.name))
			continue;
		for (k = 0; k < f->count; k++)
			sampled[f->counts[k].step] += f->counts[k].count;
	}
}

/* Adds what the history of a session knows. */
static void add_facts(const struct report *r, const struct gather_session *s,
		      struct step_facts *facts)
{
	const struct steps *steps = facts->steps;
	struct history_cover *sum = facts->cover;
	struct window all = { steps->begin_ms,
			      steps->begin_ms + (int64_t)steps->count * steps->length_ms };
	const struct history_wanted wanted = { .window = &all,
					       .steps = steps,
					       .wants_keys = wants_no_keys };
	_cleanup_(history_freep) struct history *h = NULL;
	uint32_t i;

	if (history_read_wanted(s->samples, &wanted, &h, NULL) < 0)
		return;
	if (r->view->chains)
		add_sampled(r->chains, h, facts->sampled);
	for (i = 0; i < steps->count; i++) {
		const struct history_cover *c = history_covers_step(h, i);

		if (c->slices) {
			sum[i].span.begin_ms = sum[i].slices
						       ? MIN(sum[i].span.begin_ms, c->span.begin_ms)
						       : c->span.begin_ms;
			sum[i].span.end_ms = MAX(sum[i].span.end_ms, c->span.end_ms);
		}
		sum[i].slices += c->slices;
		sum[i].covered_ms += c->covered_ms;
		sum[i].touching += c->touching;
		sum[i].lost += c->lost;
	}
}

/* What is written of each step. */
static int64_t covered(const struct history_cover *c)
{
	return c->covered_ms;
}

static int64_t is_recorded(const struct history_cover *c)
{
	return c->touching > 0;
}

static int64_t lost(const struct history_cover *c)
{
	return (int64_t)MIN(c->lost, (uint64_t)INT64_MAX);
}

/* The slices counted in the step: opreport counts the same ones for a window from the begin of one
 * step's to the end of another's. */
static int64_t slices_from(const struct history_cover *c)
{
	return c->span.begin_ms;
}

static int64_t slices_to(const struct history_cover *c)
{
	return c->span.end_ms;
}

static void write_facts(const struct report *r, const struct step_facts *facts, struct json *j)
{
	static const struct {
		const char *name;
		int64_t (*value)(const struct history_cover *c);
	} lists[] = {
		{ "covered_ms", covered },  { "recorded", is_recorded }, { "lost", lost },
		{ "from_ms", slices_from }, { "to_ms", slices_to },
	};
	const uint32_t count = facts->steps->count;
	size_t k;
	uint32_t i;

	for (k = 0; k < ARRAY_SIZE(lists); k++) {
		json_open(j, lists[k].name, '[');
		for (i = 0; i < count; i++)
			json_i64(j, NULL, lists[k].value(&facts->cover[i]));
		json_close(j, ']');
	}
	if (!r->view->chains)
		return;
	json_open(j, "sampled", '[');
	for (i = 0; i < count; i++)
		json_u64(j, NULL, facts->sampled[i]);
	json_close(j, ']');
}

static void write_steps(const struct report *r, struct json *j)
{
	const struct steps steps = steps_of(r);
	_cleanup_free_ struct history_cover *cover = xcalloc(steps.count + 1, sizeof(*cover));
	_cleanup_free_ uint64_t *sampled = xcalloc(steps.count + 1, sizeof(*sampled));
	struct step_facts facts = { &steps, cover, sampled };
	size_t i;

	if (!steps.count)
		return;
	for (i = 0; i < r->gather->session_count; i++)
		add_facts(r, &r->gather->sessions[i], &facts);
	json_open(j, "steps", '{');
	json_i64(j, "begin_ms", steps.begin_ms);
	json_i64(j, "length_ms", steps.length_ms);
	json_u64(j, "count", steps.count);
	json_i64(j, "east_ms", steps_east_ms(&steps));
	write_facts(r, &facts, j);
	json_close(j, '}');
}

/* --- how well --- */

static void write_unresolved(const struct report *r, struct json *j)
{
	struct container own = *r->container;
	struct unresolved u;
	size_t i;

	if (r->view->chains) /* the other class has samples of callees, too */
		own.class_count = 1;
	unresolved_collect(&own, r->gather, &u);
	json_open(j, "unresolved", '[');
	for (i = 0; i < u.count; i++) {
		json_open(j, NULL, '{');
		json_bytes(j, "image", gather_image_name(r->gather, u.images[i].image, true));
		json_u64(j, "samples", u.images[i].samples);
		json_string(j, "remedy", unresolved_remedy(&u.images[i], r->gather));
		json_close(j, '}');
	}
	json_close(j, ']');
	unresolved_done(&u);
}

/* Writes how much the waits of time off the CPU vary, if the samples are that. */
static void write_squares(const struct report *r, struct json *j)
{
	double squares = r->container->squares[0], total = (double)samples_of(r);

	if (squares > 0)
		json_double(j, "squares", MIN(squares, total * total));
}

/* Writes which other events there are. */
static void write_events(const struct report *r, struct json *j)
{
	char *const *key;

	if (!r->view->events || !r->view->events[0] || !r->view->events[1])
		return;
	json_open(j, "events", '[');
	for (key = r->view->events; *key; key++)
		json_bytes(j, NULL, *key);
	json_close(j, ']');
	json_bytes(j, "event_key", r->view->event);
}

/* Writes what the page can compare the profile with. */
static void write_others(const struct report *r, struct json *j)
{
	char *const *name = r->view->other_sessions;

	if (r->view->has_second || r->view->second)
		json_bool(j, "has_second", true);
	if (!name || !*name)
		return;
	json_open(j, "other_sessions", '[');
	for (; *name; name++)
		json_bytes(j, NULL, *name);
	json_close(j, ']');
	if (r->view->more_sessions)
		json_u64(j, "more_sessions", r->view->more_sessions);
}

void page_head_write(const struct report *r, struct json *j)
{
	_cleanup_free_ char *event = NULL;
	_cleanup_free_ char *cpu = report_header_cpu(r);

	json_string(j, "format", "oprofile-page-2");
	json_string(j, "cpu", cpu);
	if (r->classes->count)
		event = report_header_class(r, 0);
	json_string(j, "event", event);
	write_events(r, j);
	/* Only samples of the clock are time. */
	json_u64(j, "hz", r->classes->count && !r->classes->classes[0].count ? r->timer_hz : 0);
	if (report_is_time(r, 0))
		json_string(j, "unit", "us");
	json_u64(j, "samples", samples_of(r));
	json_double(j, "weight", losses_weight(r->losses));
	write_squares(r, j);
	json_bool(j, "chains", r->view->chains);
	if (r->view->apps_only)
		json_bool(j, "applications_only", true);
	write_setup(r, j);
	write_command(r, j);
	json_line(j);
	json_u64(j, "session_count", r->gather->session_count);
	json_sessions(r, j);
	write_boots(r, j);
	write_others(r, j);
	json_line(j);
	write_header(r, j);
	json_losses(r->losses, "losses", j);
	json_u64(j, "lost", r->losses->samples);
	json_u64(j, "skipped_files", r->skipped);
	json_line(j);
	if (r->view->chains)
		json_chain_ends(r, "ends", j);
	write_unresolved(r, j);
	json_line(j);
	write_steps(r, j);
}

/* --- by whom --- */

static void write_part(struct json *j, int64_t value)
{
	if (value == SNAME_ALL)
		json_string(j, NULL, NULL);
	else
		json_i64(j, NULL, value);
}

/* Writes what a cgroup of a container is called, if it is one. */
static void write_container(const struct report *r, const char *cgroup, struct json *j)
{
	_cleanup_free_ char *label = cgroup ? cgroup_label(r->gather->session_names, cgroup) : NULL;

	if (label)
		json_string(j, NULL, label);
}

void page_head_tasks(const struct report *r, const struct task_list *tasks, struct json *j)
{
	size_t i;

	if (!tasks->count)
		return;
	json_open(j, "tasks", '[');
	for (i = 0; i < tasks->count; i++) {
		const struct sname_task *task = &tasks->list[i];

		json_open(j, NULL, '[');
		json_string(j, NULL, task->cgroup);
		write_part(j, task->tgid);
		write_part(j, task->tid);
		write_part(j, task->cpu);
		write_container(r, task->cgroup, j);
		json_close(j, ']');
	}
	json_close(j, ']');
	json_line(j);
}
