/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/optop/collect.h"

#include "base/macro.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "history/history.h"
#include "profile/print/report_header.h"
#include "profile/profile.h"
#include "profile/profile_report.h"
#include "tools/common/reporting.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *heading;
} views[] = {
#define X(view, name, heading) { name, heading },
	COLLECT_VIEWS(X)
#undef X
};

int collect_view_parse(const char *name, struct error *err)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(views) && *name; i++)
		if (!strncmp(views[i].name, name, strlen(name)))
			return (int)i;
	return error_set(err, -EINVAL,
			 "--view: '%s' is not one of functions, images, apps, cgroups, "
			 "threads",
			 name);
}

const char *collect_view_name(enum collect_view view)
{
	return views[view].name;
}

const char *collect_view_heading(enum collect_view view)
{
	return views[view].heading;
}

char **collect_words(const struct question *q, char **ret_time)
{
	char **words = xcalloc(q->count + 2, sizeof(*words));
	size_t i;

	for (i = 0; i < q->count; i++)
		words[i] = q->words[i];
	*ret_time = q->window_ms ? xasprintf("time:-%" PRId64 "s", q->window_ms / 1000) : NULL;
	words[i] = *ret_time;
	return words;
}

/* --- lines --- */

static void print_fact(FILE *out, const char *name, uint64_t value)
{
	(void)fprintf(out, "fact\t%s\t%" PRIu64 "\n", name, value);
}

static void print_row(FILE *out, uint64_t self, uint64_t total, const char *name, const char *image)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;

	strbuf_addf(&line, "row\t%" PRIu64 "\t%" PRIu64 "\t", self, total);
	text_add_field(&line, name);
	strbuf_adds(&line, "\t");
	text_add_field(&line, image);
	(void)fprintf(out, "%s\n", strbuf_text(&line));
}

/* When the samples were taken, and what was lost meanwhile. */
static void print_cover(const struct profile *p, FILE *out)
{
	const struct gather_session *s = &p->gather->sessions[0];
	const struct history_cover *cover = s->history ? history_covers(s->history) : NULL;

	print_fact(out, "hz", report_header_timer_hz(p->gather));
	if (!cover) {
		print_fact(out, "lost", p->losses.samples);
		return;
	}
	print_fact(out, "begin_ms", (uint64_t)MAX(cover->span.begin_ms, (int64_t)0));
	print_fact(out, "end_ms", (uint64_t)MAX(cover->span.end_ms, (int64_t)0));
	print_fact(out, "cpu_ms", cover->cpu_ms);
	print_fact(out, "taken", cover->taken);
	print_fact(out, "lost", cover->lost);
}

/* --- rows --- */

/* The rows of @c, with their own samples in class @self and all in class @total. */
static void print_rows(const struct profile *p, const struct container *c, size_t self,
		       size_t total, FILE *out)
{
	uint64_t samples = 0, unnamed = 0;
	size_t i;

	for (i = 0; i < c->count; i++) {
		const struct row *row = &c->rows[i];
		_cleanup_(strbuf_done) struct strbuf name = STRBUF_INIT;
		const char *image = gather_image_name(p->gather, row->image, false);

		if (row->is_end)
			continue;
		samples += row->counts[self];
		unnamed +=
			row->kind == ROW_SYMBOL || row->kind == ROW_IMAGE ? 0 : row->counts[self];
		if (row->kind != ROW_IMAGE)
			report_add_name(&name, row, 0);
		print_row(out, row->counts[self], row->counts[total],
			  row->kind == ROW_IMAGE ? image : strbuf_text(&name),
			  row->kind == ROW_IMAGE ? "" : image);
	}
	print_fact(out, "samples", samples);
	print_fact(out, "unnamed", unnamed);
}

static int print_chains(struct profile *p, FILE *out, struct error *err)
{
	struct name_style style = { 0 };
	int r = chains_collect(&p->chains, p->binaries, err);

	if (r < 0)
		return r;
	chains_name(&p->chains, &style);
	print_fact(out, "chains", p->chains.samples);
	print_fact(out, "complete", p->chains.ends[CHAIN_END_COMPLETE].samples);
	print_rows(p, &p->chains.rows, CHAINS_SELF, CHAINS_INCLUSIVE, out);
	return 0;
}

/* What differs between the classes: threads, cgroups. */
static void print_classes(const struct profile *p, const struct container *c, FILE *out)
{
	uint64_t samples = 0;
	size_t i;

	for (i = 0; i < p->classes.count; i++) {
		samples += c->totals[i];
		print_row(out, c->totals[i], c->totals[i], p->classes.classes[i].name, "");
	}
	print_fact(out, "samples", samples);
}

static int check_events(const struct profile *p, struct error *err)
{
	size_t i;

	for (i = 1; i < p->classes.count; i++)
		if (!class_same_event(&p->classes.classes[0], &p->classes.classes[i]))
			return error_set(err, -EINVAL,
					 "there are samples of several events; choose one: "
					 "event:%s or event:%s",
					 p->classes.classes[0].event, p->classes.classes[i].event);
	return 0;
}

static int print_flat(struct profile *p, enum collect_view view, FILE *out, struct error *err)
{
	struct populate_config config = { .symbols = view == COLLECT_FUNCTIONS,
					  .merge_lib = view == COLLECT_FUNCTIONS ||
						       view == COLLECT_IMAGES };
	struct container rows;
	struct populate_job job = { .gather = p->gather,
				    .classes = &p->classes,
				    .by_image = &p->by_image,
				    .binaries = p->binaries,
				    .config = &config,
				    .out = &rows };
	int r = check_events(p, err);

	if (r < 0)
		return r;
	container_init_classes(&rows, &p->classes);
	populate_images(&job);
	if (view == COLLECT_APPLICATIONS)
		container_fold_apps(&rows);
	container_name(&rows, NULL);
	if (view == COLLECT_CGROUPS || view == COLLECT_THREADS)
		print_classes(p, &rows, out);
	else
		print_rows(p, &rows, 0, 0, out);
	container_done(&rows);
	return 0;
}

static unsigned int merges_of(enum collect_view view)
{
	unsigned int all = CLASSES_MERGE_ALL & ~(unsigned int)CLASSES_MERGE_LIB;

	if (view == COLLECT_CGROUPS)
		all &= ~(unsigned int)CLASSES_MERGE_CGROUP;
	if (view == COLLECT_THREADS)
		all &= ~(unsigned int)(CLASSES_MERGE_TID | CLASSES_MERGE_TGID);
	return all | CLASSES_MANY_AXES;
}

int collect_print(const struct question *q, FILE *out, struct error *err)
{
	_cleanup_(profile_closep) struct profile *p = NULL;
	_cleanup_free_ char *time = NULL;
	_cleanup_free_ char **words = collect_words(q, &time);
	struct profile_config config = {
		.session_dir = q->session_dir,
		.symbol_cache = q->view == COLLECT_FUNCTIONS,
		.merge = merges_of(q->view),
		.binaries = { .symbols_only = true },
		.chains = q->view == COLLECT_FUNCTIONS ? PROFILE_CHAINS_IF_ANY : PROFILE_NO_CHAINS,
	};
	int status = 0, r = reporting_become_owner(&config, false, words, err);

	if (r == 0)
		r = reporting_confine(&config, NULL, words, &status, err);
	if (r != 0) /* 1: another process has done it all */
		return r < 0 ? r : -status;
	r = profile_open(&config, q->count + (time != NULL), words, &p, err);
	if (r < 0)
		return r;
	print_cover(p, out);
	if (p->chains.source_count && (r = print_chains(p, out, err)) != -ENODATA)
		return r;
	return print_flat(p, q->view, out, err);
}
