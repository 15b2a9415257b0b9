/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/page/internal/page_head.h"

#include "base/json.h"
#include "base/macro.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "profile/page/internal/page_times.h"
#include "profile/print/json_head.h"
#include "profile/print/losses.h"
#include "profile/print/report.h"
#include "profile/print/report_header.h"
#include "profile/rows/chains.h"
#include "profile/rows/task_list.h"
#include "profile/rows/unresolved.h"
#include "profile/select/cgroup_label.h"
#include "sfile/setup.h"
#include "sfile/sname_event.h"

#include <stdlib.h>
#include <string.h>

/* A month can have a hundred thousand images, of which the page shows the first ones: how many it
 * has of each reason why chains end, and of those without symbols. */
enum { ENDS_LISTED = 20, UNRESOLVED_LISTED = 50 };

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
	for (i = 0; i < u.count && i < UNRESOLVED_LISTED; i++) {
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

/* Writes an event "NAME" or "NAME,COUNT" as people write it. */
static void write_event_name(const char *key, struct json *j)
{
	size_t length = strcspn(key, ",");
	_cleanup_free_ char *name = xstrndup(key, length);
	_cleanup_free_ char *text = sname_event_text(name);
	_cleanup_free_ char *shown =
		key[length] ? xasprintf("%s, count %s", text, key + length + 1) : xstrdup(text);

	json_bytes(j, NULL, shown);
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
	json_open(j, "event_names", '[');
	for (key = r->view->events; *key; key++)
		write_event_name(*key, j);
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

void page_head_write(const struct report *r, const struct page_times *times, struct json *j)
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
	if (r->view->no_chains)
		json_bytes(j, "no_chains", r->view->no_chains);
	if (r->view->apps_only)
		json_bool(j, "applications_only", true);
	write_setup(r, j);
	write_command(r, j);
	json_line(j);
	json_u64(j, "session_count", r->gather->session_count);
	json_sessions(r->gather, "sessions", j);
	write_boots(r, j);
	write_others(r, j);
	json_line(j);
	write_header(r, j);
	json_losses(r->losses, "losses", j);
	json_u64(j, "lost", r->losses->samples);
	json_u64(j, "skipped_files", r->skipped);
	json_line(j);
	if (r->view->chains)
		json_chain_ends(r, "ends", ENDS_LISTED, j);
	write_unresolved(r, j);
	json_line(j);
	page_times_write(r, times, j);
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
