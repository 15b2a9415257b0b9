/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/profile_report.h"

#include "base/log.h"
#include "base/macro.h"
#include "base/mem.h"
#include "profile/page/page.h"
#include "profile/print/format_chains.h"
#include "profile/print/report_header.h"
#include "profile/rows/chains_diff.h"
#include "profile/select/file_counts.h"
#include "profile/rows/diff_match.h"
#include "profile/rows/row_join.h"
#include "profile/rows/row_places.h"
#include "profile/rows/line_builds.h"
#include "profile/rows/line_choice.h"
#include "profile/rows/trend.h"
#include "profile/rows/unresolved.h"
#include "profile/xml/format_xml.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

const struct report_form_info *report_form(enum report_form form)
{
	static const struct report_form_info forms[] = {
		[REPORT_TEXT] = { "text", false, report_text, report_chains_text,
				  report_timeline_text, report_trend_text },
		[REPORT_JSON] = { "JSON", true, report_json, report_chains_json,
				  report_timeline_json, report_trend_json },
		[REPORT_CSV] = { "CSV", true, report_csv, report_chains_csv, report_timeline_csv,
				 report_trend_csv },
		[REPORT_XML] = { "XML", true, report_xml, NULL, NULL, NULL },
		[REPORT_HTML] = { "HTML", true, page_html, page_html, NULL, NULL, PAGE_STEPS_MAX,
				  .has_places = true },
		[REPORT_DATA] = { "page data", true, page_data, page_data, NULL, NULL,
				  PAGE_STEPS_MAX },
		[REPORT_SECOND] = { "page data", true, page_second, page_second, NULL, NULL,
				    PAGE_STEPS_MAX, .has_places = true },
		[REPORT_FILES] = { "page data", true, page_files, page_files, NULL, NULL,
				   .has_places = true },
		[REPORT_PPROF] = { "pprof", true, NULL, report_chains_pprof, NULL, NULL,
				   .has_tasks = true },
		[REPORT_PERF] = { "perf script", true, NULL, report_chains_perf, NULL, NULL },
	};
	static_assert(ARRAY_SIZE(forms) == REPORT_FORM_COUNT_, "a row for each form");

	return &forms[form];
}

/* Whether the rows are ordered by their samples, the largest first. */
static bool is_by_samples(const struct report_view *view, bool has_before)
{
	const struct sort *sort = &view->sort;
	/* Without another profile there are no differences to order by. */
	bool skips = sort->keys[0] == SORT_DIFFERENCE && !has_before;

	return sort->keys[skips] == SORT_SAMPLE && !sort->reverse;
}

void profile_report_configure(const struct report_view *view, struct profile_config *config)
{
	bool needs_code = view->form == REPORT_XML;
	bool needs_lines = view->rows.lines || view->rows.inlines || view->rows.line;

	config->binaries.keep = view->calls || needs_code;
	config->binaries.symbols_only = !needs_lines && !needs_code;
	config->symbol_cache &= view->rows.symbols || view->chains;
	config->calls = view->calls;
	/* The sources on a page are of the same profile. */
	config->sums_only = ((view->chains && view->form != REPORT_HTML) ||
			     (!view->rows.symbols && !report_form(view->form)->chain_steps)) &&
			    !view->calls && !view->trend;
	/* Addresses and arcs have no blocks. */
	config->blocks = (view->errors || view->compares) && !view->calls && !view->rows.details;
	if (view->chains) {
		/* Chains record tasks and CPUs, but are not reported by them. */
		config->merge = CLASSES_MERGE_CPU | CLASSES_MERGE_TID | CLASSES_MERGE_TGID;
		config->chains = PROFILE_CHAINS_NEEDED;
	} else if (view->calls) {
		config->chains = PROFILE_CHAINS_IF_ANY;
	}
	if (view->timeline)
		config->merge |= timeline_merge(view->timeline);
	if (view->trend)
		config->merge |= timeline_merge(TIMELINE_SYMBOL) | CLASSES_MERGE_LIB;
	if (view->chains || report_form(view->form)->is_for_programs)
		config->merge |= CLASSES_MANY_AXES;
	/* A page has the tasks of chains in another way. */
	if (report_form(view->form)->chain_steps)
		config->merge |= CLASSES_MERGE_COMM | CLASSES_MERGE_UNIT_MASK |
				 (view->chains ? CLASSES_MERGE_CGROUP : 0);
}

void profile_report_narrow(const struct report_view *view, struct profile_config *config)
{
	const struct populate_config *rows = &view->rows;
	bool is_plain = view->form == REPORT_TEXT && rows->symbols && !rows->merge_lib &&
			!rows->exclude_dependent && !rows->details && !rows->only;
	bool is_other = view->chains || view->calls || view->timeline || view->trend ||
			view->compares || view->errors || view->native;

	if (is_plain && !is_other && view->threshold <= 0 && !config->fetch.wanted &&
	    !symbol_filter_is_set(&view->chosen.symbols) && is_by_samples(view, false))
		config->top = view->top;
}

/* --- collecting --- */

/* The header of the first sample file that can be read, for type and speed of the CPU. */
static struct sfile_header some_header(const struct gather *g)
{
	struct sfile_header header = { 0 };
	size_t i;

	for (i = 0; i < g->file_count; i++)
		if (file_counts_read_header(&g->files[i], &header, NULL) == 0)
			break;
	return header;
}

/* Sets what the sessions say about the noise of single samples of chains, which are of one
 * event. */
static void set_chain_noise(struct profile *p)
{
	_cleanup_free_ char *event = xstrndup(p->chains.event, strcspn(p->chains.event, "."));
	struct container *rows = &p->chains.rows;

	rows->weight = losses_weight(&p->losses);
	rows->squares[CHAINS_SELF] = rows->squares[CHAINS_INCLUSIVE] =
		losses_wait_squares(p->gather, event);
}

/* Whether a report of chains shows only sums, of functions or of stacks, which a tree has in less
 * time and memory than lines. */
static bool sums_suffice(const struct report_view *view)
{
	return (view->chains == CHAINS_FOLDED || view->chains == CHAINS_CHILDREN) &&
	       !view->errors && !view->compares && !view->outer;
}

/* -EINVAL, and that "--OPTION=AXIS" needs samples that are kept separate by that. */
static int not_separate(struct error *err, const char *option, const char *axis)
{
	if (!strcmp(axis, "host"))
		return error_set(err, -EINVAL,
				 "--%s=host: the session does not say where it was recorded",
				 option);
	return error_set(err, -EINVAL,
			 "--%s=%s: not kept separate in this session; profile with "
			 "--separate-%s (operf) or --separate=%s (opcontrol)",
			 option, axis, axis, axis);
}

static int collect_chains(struct profile_report *r, struct error *err)
{
	struct chains *c = &r->profile->chains;
	const struct spec_division division = { .most = report_form(r->view->form)->chain_steps };
	int status = 0;

	c->choice = &r->view->chosen;
	c->inlines = r->view->rows.inlines;
	c->regions = r->view->rows.regions;
	c->steps = c->gather->steps; /* of blocks, if they are of time */
	c->by_task = c->wants_tree = c->own_only = division.most > 0; /* a page */
	c->outer = r->view->outer;
	c->tasks.by_comm = c->outer || report_form(r->view->form)->has_tasks;
	c->by_task |= c->tasks.by_comm;
	c->by_source = r->view->by_host;
	c->wants_tree |= sums_suffice(r->view);
	c->own_only |= c->wants_tree && r->view->chains == CHAINS_FOLDED;
	c->apps_only = r->view->apps_only;
	c->is_read_again = r->view->form == REPORT_HTML; /* for the sources on it */
	if (division.most)
		status = gather_steps(c->gather, c->spec, division, &c->steps, err);
	if (status == 0)
		status = chains_collect(c, r->profile->binaries, err);
	if (status == 0 && c->outer && !c->tasks.count)
		status = not_separate(err, "folded", chains_outer_name(c->outer));
	if (status < 0)
		return status;
	if (report_form(r->view->form)->has_places)
		row_places_find_all(&c->rows, c->gather, r->profile->binaries);
	if (c->gather->blocks)
		classes_join_blocks(&r->profile->classes);
	set_chain_noise(r->profile);
	r->stats.header = some_header(r->profile->gather);
	return 0;
}

/* Adds arcs between rows, and the quality of the chains that they may come from. */
static void collect_calls(struct profile_report *r, struct populate_job *job)
{
	struct profile *p = r->profile;
	size_t i;

	callgraph_collect(job, &r->calls);
	p->chains.quality_only = true;
	/* Microseconds do not add up with samples. */
	for (i = 0; i < p->classes.count; i++)
		p->chains.no_time |= !sname_event_is_time(p->classes.classes[i].event);
	if (p->chains.source_count)
		(void)chains_collect(&p->chains, p->binaries, NULL);
	if (r->calls.raw.count == 0)
		log_warn("%s: no call chains were recorded; profile with --callgraph (operf, "
			 "opcontrol)",
			 p->gather->sessions[0].samples);
}

/* Makes rows and classes of those of the blocks. */
static void join_blocks(struct profile *p, struct container *rows)
{
	container_join_blocks_of(rows, p->gather, p->classes.steps);
	classes_join_blocks(&p->classes);
}

/* Leaves the rows of one source line. */
static int choose_line(struct profile_report *r, struct error *err)
{
	const struct profile *p = r->profile;
	const struct line_source source = { p->gather, &p->classes, p->binaries };
	const struct line_choice *line = r->view->rows.line;
	_cleanup_free_ uint64_t *ages = line_builds_ages(&source, &r->rows);

	line_builds_add(&source, line, &r->rows);
	return line_choice_rows(line, ages, &r->rows, err);
}

static int collect_rows(struct profile_report *r, struct error *err)
{
	struct profile *p = r->profile;
	struct populate_job job = { .gather = p->gather,
				    .classes = &p->classes,
				    .by_image = &p->by_image,
				    .binaries = p->binaries,
				    .config = &r->view->rows,
				    .out = &r->rows };

	container_init_classes(&r->rows, &p->classes);
	populate_images(&job);
	if (r->view->calls)
		collect_calls(r, &job);
	r->stats = job.stats;
	if (r->rows.count == 0 && r->view->rows.line && r->stats.read)
		return choose_line(r, err);
	if (r->rows.count == 0 && r->view->rows.only && r->stats.read)
		return error_set(err, -ENODATA,
				 "%s: nothing with this name was sampled; an image is written as "
				 "[NAME] or /PATH",
				 p->gather->sessions[0].samples);
	if (r->rows.count == 0)
		return error_set(err, -ENODATA, "%s: %s", p->gather->sessions[0].samples,
				 r->stats.read ? "the sample files hold no samples"
					       : "no sample file can be read");
	if (!r->view->rows.regions || p->gather->has_archives)
		row_join_images(&r->rows, p->gather, r->view->rows.regions,
				r->view->calls ? &r->calls : NULL);
	if (r->view->native)
		row_join_native(&r->rows, p->gather, r->view->rows.merge_lib);
	if (p->gather->blocks)
		join_blocks(p, &r->rows);
	losses_set_noise(&p->losses, p->gather, &p->classes, &r->rows);
	if (report_form(r->view->form)->has_places)
		row_places_find_all(&r->rows, p->gather, p->binaries);
	if (r->view->rows.line)
		return choose_line(r, err);
	if (!timeline_has_things(r->view->timeline, &p->classes))
		return not_separate(err, "timeline", timeline_by_name(r->view->timeline));
	if (r->view->timeline && r->view->rows.only)
		container_choose_rows(&r->rows);
	else if (symbol_filter_is_set(&r->view->chosen.symbols) && !r->view->trend)
		container_choose(&r->rows, p->gather, &r->view->chosen.symbols, r->view->calls);
	return 0;
}

int profile_report_collect(struct profile *p, const struct report_view *view,
			   struct profile_report *ret, struct error *err)
{
	_cleanup_(profile_report_done) struct profile_report made = { .profile = p, .view = view };
	int r = view->chains ? collect_chains(&made, err) : collect_rows(&made, err);

	if (gather_check_there(p->gather, err) < 0)
		return -ESTALE;
	if (r < 0)
		return r;
	*ret = made;
	made = (struct profile_report){ 0 };
	return 0;
}

void profile_report_done(struct profile_report *r)
{
	callgraph_done(&r->calls);
	container_done(&r->rows);
}

static int compare_chains(struct profile_report *first, struct profile_report *second,
			  struct error *err)
{
	struct profile *a = first->profile, *b = second->profile;
	int r = chains_compare(&a->chains, &b->chains,
			       (struct chains_binaries){ a->binaries, b->binaries }, err);

	if (r < 0)
		return r;
	diff_judge(&b->chains.rows, second->view->compare_by);
	diff_judge(&b->chains.by_line, second->view->compare_by);
	return 0;
}

static int compare_rows(struct profile_report *first, struct profile_report *second,
			struct error *err)
{
	struct profile *a = first->profile, *b = second->profile;
	int r = diff_compare(
		&(struct diff_side){ a->gather, a->binaries, &a->classes, &first->rows },
		&(struct diff_side){ b->gather, b->binaries, &b->classes, &second->rows }, err);

	if (r < 0)
		return r;
	diff_judge(&second->rows, second->view->compare_by);
	return 0;
}

int profile_report_compare(struct profile_report *first, struct profile_report *second,
			   struct error *err)
{
	int r = second->view->chains ? compare_chains(first, second, err)
				     : compare_rows(first, second, err);

	if (r == 0)
		second->before = first;
	return r;
}

/* --- printing --- */

/* Leaves the rows that are shown, in order. */
static void arrange_rows(struct profile_report *r)
{
	const struct report_view *view = r->view;
	const struct gather *g = r->profile->gather;
	/* The text of a summary of one profile cuts applications instead. */
	bool cut = (view->rows.symbols || r->before || report_form(view->form)->is_for_programs) &&
		   !view->calls;

	if (cut)
		container_cut(&r->rows, view->threshold);
	/* Names take longer than all else, and most rows may not be shown. */
	if (cut && is_by_samples(view, r->before))
		container_most(&r->rows, view->top);
	container_name(&r->rows, &view->names);
	sort_rows(&r->rows, g, &view->sort);
	if (cut)
		container_top(&r->rows, view->top);
	if (view->calls) {
		callgraph_arrange(&r->calls, &r->rows);
		callgraph_cut(&r->calls, g, &r->rows, view->threshold, view->top);
	}
}

static void print_chains(struct report *report, struct chains *chains, FILE *out)
{
	chains->by_difference = report->before && report->view->sort.keys[0] == SORT_DIFFERENCE;
	chains_name(chains, &report->view->names);
	report->container = report->before ? &chains->by_line : &chains->rows;
	assert(report_form(report->view->form)->print_chains);
	report_form(report->view->form)->print_chains(report, out);
}

static void print_rows(struct profile_report *r, struct report *report, FILE *out)
{
	struct unresolved unresolved;

	unresolved_collect(&r->rows, r->profile->gather, &unresolved);
	if (r->view->native) /* they are wanted there */
		unresolved_forget_loops(&unresolved);
	report->unresolved = r->before ? NULL : &unresolved;
	arrange_rows(r);
	report_form(r->view->form)->print(report, out);
	unresolved_done(&unresolved);
}

static void print_timeline(struct profile_report *r, struct report *report, FILE *out)
{
	const struct report_view *view = r->view;
	const struct gather *g = r->profile->gather;
	struct timeline timeline;
	size_t i;

	if (view->timeline == TIMELINE_APPLICATION)
		container_fold_apps(&r->rows);
	container_name(&r->rows, &view->names);
	sort_rows(&r->rows, g, &view->sort);
	timeline_make(view->timeline, g, &r->profile->classes, &r->rows, &timeline);
	for (i = 0; i < timeline.table_count; i++) {
		if (is_by_samples(view, false))
			timeline_sort(&timeline.tables[i]);
		timeline_cut(&timeline.tables[i], view->threshold, view->top);
	}
	report->timeline = &timeline;
	assert(report_form(view->form)->print_timeline);
	report_form(view->form)->print_timeline(report, out);
	timeline_done(&timeline);
}

static void print_trend(const struct profile_report *r, struct report *report, FILE *out)
{
	struct trend trend;

	trend_make(r->profile->gather, &r->profile->classes, &r->rows, &trend);
	report->trend = &trend;
	assert(report_form(r->view->form)->print_trend);
	report_form(r->view->form)->print_trend(report, out);
	trend_done(&trend);
}

static size_t skipped_files(const struct profile_report *r)
{
	return r->stats.bad + r->profile->gather->skipped;
}

void profile_report_print(struct profile_report *r, FILE *out)
{
	struct profile *p = r->profile;
	struct report_before before = { .words = { r->words[0], r->words[1] } };
	struct report report = { .view = r->view,
				 .gather = p->gather,
				 .classes = &p->classes,
				 .container = &r->rows,
				 .calls = r->view->calls ? &r->calls : NULL,
				 .chains = p->chains.samples ? &p->chains : NULL,
				 .losses = &p->losses,
				 .header = r->stats.header,
				 .sources = r->sources,
				 .source_count = r->source_count,
				 .timer_hz = report_header_timer_hz(p->gather),
				 .wander = report_header_wander(p->gather),
				 .skipped = skipped_files(r) };

	binaries_count(p->binaries, &report.files, &report.gone);
	if (r->before) {
		before.gather = r->before->profile->gather;
		before.losses = &r->before->profile->losses;
		before.skipped = skipped_files(r->before);
		report.before = &before;
	}
	if (r->view->chains)
		print_chains(&report, &p->chains, out);
	else if (r->view->timeline)
		print_timeline(r, &report, out);
	else if (r->view->trend)
		print_trend(r, &report, out);
	else
		print_rows(r, &report, out);
}
