/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tools/opreport/opreport_options.h"
#include "tools/common/reporting.h"

#include "base/strbuf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Sets the form, and checks that it supports the other options. */
static int check_form(struct opreport_options *o, struct error *err)
{
	struct report_view *v = &o->view;

	if (o->all && v->top)
		return error_set(err, -EINVAL, "--all and --top cannot be combined");
	if (o->xml + o->json + o->csv > 1)
		return error_set(err, -EINVAL, "--xml, --json and --csv cannot be combined");
	v->form = o->html	   ? REPORT_HTML
		  : o->pprof	   ? REPORT_PPROF
		  : o->perf_script ? REPORT_PERF
		  : o->xml	   ? REPORT_XML
		  : o->json	   ? REPORT_JSON
		  : o->csv	   ? REPORT_CSV
				   : REPORT_TEXT;
	if (!report_form(v->form)->is_for_programs)
		return 0;
	if (v->accumulated)
		return error_set(
			err, -EINVAL,
			"--accumulated and %s cannot be combined: only text has running sums",
			report_form(v->form)->name);
	if (v->global_percent && o->xml)
		return error_set(
			err, -EINVAL,
			"--global-percent and --xml cannot be combined: XML has no percentages");
	return 0;
}

/* An option that another one does not go with, or needs. */
struct other {
	bool is_given;
	const char *name;
};

/* Refuses the first of @others that is given next to the option @name. */
static int refuse(const char *name, const struct other *others, size_t count, struct error *err)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (others[i].is_given)
			return error_set(err, -EINVAL, "%s cannot be combined with %s", name,
					 others[i].name);
	return 0;
}

/* Checks that options which need --symbols have it. */
static int check_symbols(const struct opreport_options *o, struct error *err)
{
	const struct report_view *v = &o->view;
	const struct other of_symbols[] = {
		{ v->show_address, "--show-address" },
		{ v->accumulated, "--accumulated" },
		{ v->rows.lines, "--debug-info" },
		{ v->rows.inlines && !v->chains, "--inlines" },
		{ v->native && !v->chains, "--native" },
		{ v->chosen.symbols.include.count && !v->chains, "--include-symbols" },
		{ v->chosen.symbols.exclude.count && !v->chains, "--exclude-symbols" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(of_symbols) && !v->rows.symbols; i++)
		if (of_symbols[i].is_given)
			return error_set(err, -EINVAL, "%s needs --symbols", of_symbols[i].name);
	return 0;
}

/* Checks what --native can be combined with: with --symbols it moves whole rows. */
static int check_native(const struct opreport_options *o, struct error *err)
{
	const struct report_view *v = &o->view;
	const struct other others[] = {
		{ v->chosen.merge_runtime, "--merge=runtime" },
		{ v->rows.details, "--details" },
		{ v->calls, "--callgraph" },
		{ v->timeline, "--timeline" },
		{ v->trend, "--history-of" },
		{ o->xml, "--xml" },
		{ o->html, "--html" },
	};

	return v->native ? refuse("--native", others, ARRAY_SIZE(others), err) : 0;
}

static int check_rows(const struct opreport_options *o, struct error *err)
{
	const struct report_view *v = &o->view;
	const char *merging = o->profile.merge & CLASSES_MERGE_LIB ? "--merge=lib" : "--timeline";

	/* --merge=all means what is left to merge, as in OProfile 1.x. */
	if (v->rows.exclude_dependent && v->rows.merge_lib && o->profile.merge != CLASSES_MERGE_ALL)
		return error_set(err, -EINVAL,
				 "%s and --exclude-dependent cannot be combined: one merges all "
				 "libraries, the other leaves them out",
				 merging);
	if (v->calls && v->rows.details)
		return error_set(err, -EINVAL,
				 "--callgraph and --details cannot be combined: calls are counted "
				 "between functions");
	if (v->calls && v->rows.inlines)
		return error_set(err, -EINVAL,
				 "--callgraph and --inlines cannot be combined: calls are counted "
				 "between functions; use --chains for inlined ones");
	if (v->global_percent && v->rows.symbols && !v->rows.details && !v->calls)
		return error_set(err, -EINVAL,
				 "--global-percent has no effect on --symbols, whose percentages "
				 "are of all samples anyway");
	return 0;
}

/* Checks which options whole chains can be combined with. */
static int check_chains(const struct opreport_options *o, struct error *err)
{
	const struct report_view *v = &o->view;
	const struct other others[] = {
		{ v->rows.symbols, "--symbols, --details or --callgraph" },
		{ o->by_host && !o->pprof, "--separate-hosts (but --folded=host)" },
		{ o->profile.merge & ~(unsigned int)CLASSES_MERGE_RUNTIME, "--merge" },
		{ v->rows.exclude_dependent, "--exclude-dependent" },
		{ o->xml, "--xml" },
		{ v->errors, "--errors" },
	};
	const char *name = o->pprof	    ? "--pprof"
			   : o->perf_script ? "--perf-script"
			   : o->chains	    ? "--chains"
			   : o->folded	    ? "--folded"
					    : "--children";
	size_t i;

	if (o->chains + o->folded + o->children > 1)
		return error_set(err, -EINVAL,
				 "--chains, --folded and --children cannot be combined");
	if (!v->chains && v->chosen.merge_runtime)
		return error_set(err, -EINVAL,
				 "--merge=runtime needs --chains, --folded or --children");
	if (!v->chains && (v->chosen.hide.count || v->chosen.callers_of.count))
		return error_set(err, -EINVAL, "%s needs --chains, --folded or --children",
				 v->chosen.hide.count ? "--hide" : "--callers-of");
	if (!v->chains)
		return v->quality && !v->calls
			       ? error_set(err, -EINVAL,
					   "--quality needs --chains, --children or --callgraph")
			       : 0;
	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i].is_given)
			return error_set(err, -EINVAL, "%s and %s cannot be combined", name,
					 others[i].name);
	return 0;
}

/* Checks which options a timeline can be combined with. */
static int check_timeline(const struct opreport_options *o, struct error *err)
{
	const struct report_view *v = &o->view;
	const struct other others[] = {
		{ v->rows.symbols && v->timeline != TIMELINE_SYMBOL,
		  "--symbols, --details or --callgraph; use --timeline=symbol" },
		{ v->rows.details, "--details" },
		{ v->calls, "--callgraph" },
		{ v->chains, "call chains" },
		{ v->accumulated, "--accumulated" },
		{ v->show_address, "--show-address" },
		{ v->rows.lines, "--debug-info" },
		{ v->errors, "--errors" },
		{ v->global_percent, "--global-percent" },
		{ o->xml, "--xml" },
	};

	if (!v->timeline)
		return o->profile.division.length_ms && !v->trend
			       ? error_set(err, -EINVAL, "--step needs --timeline or --history-of")
			       : 0;
	return refuse("--timeline", others, ARRAY_SIZE(others), err);
}

/* Checks which options a trend can be combined with. */
static int check_trend(const struct opreport_options *o, struct error *err)
{
	const struct report_view *v = &o->view;
	const struct other others[] = {
		{ v->timeline, "--timeline" },
		{ v->chains, "call chains" },
		{ v->calls, "--callgraph" },
		{ v->rows.details, "--details" },
		{ v->rows.exclude_dependent, "--exclude-dependent" },
		{ v->rows.lines, "--debug-info" },
		{ v->show_address, "--show-address" },
		{ v->global_percent, "--global-percent" },
		{ v->rows.inlines, "--inlines" },
		{ v->accumulated, "--accumulated" },
		{ v->errors, "--errors, which it always shows" },
		{ v->top, "--top" },
		{ v->threshold > 0, "--threshold" },
		{ o->xml, "--xml" },
		{ o->html, "--html" },
	};
	return v->trend ? refuse("--history-of", others, ARRAY_SIZE(others), err) : 0;
}

/* Checks which options a page can be combined with: it has all views, and is one file. */
static int check_html(const struct opreport_options *o, struct error *err)
{
	const struct report_view *v = &o->view;
	const struct other others[] = {
		{ v->chains, "--chains, --folded or --children" },
		{ v->rows.symbols && !v->timeline, "--symbols, --details or --callgraph" },
		{ v->timeline, "--timeline" },
		{ v->rows.exclude_dependent, "--exclude-dependent" },
		{ v->threshold > 0, "--threshold" },
		{ v->top, "--top" },
		{ v->errors, "--errors, which it always shows" },
		{ o->by_host, "--separate-hosts" },
		{ o->profile.merge, "--merge" },
		{ o->xml || o->json || o->csv, "--xml, --json or --csv" },
		{ o->output, "--output-file" },
	};
	return o->html ? refuse("--html", others, ARRAY_SIZE(others), err) : 0;
}

/* Checks which options a profile for pprof, or as perf script prints it, can be combined with: it
 * has whole chains, and that for pprof is one file. */
static int check_samples(const struct opreport_options *o, struct error *err)
{
	const struct report_view *v = &o->view;
	const struct other others[] = {
		{ o->chains || o->folded || o->children, "--chains, --folded or --children" },
		{ v->threshold > 0, "--threshold" },
		{ v->top, "--top" },
		{ v->quality, "--quality" },
		{ o->html, "--html" },
		{ o->xml || o->json || o->csv, "--xml, --json or --csv" },
		{ o->pprof && o->output, "--output-file" },
		{ o->pprof && o->perf_script, "--perf-script" },
	};
	const char *name = o->pprof ? "--pprof" : "--perf-script";

	return o->pprof || o->perf_script ? refuse(name, others, ARRAY_SIZE(others), err) : 0;
}

/* Sets options that others imply. */
static void complete(struct opreport_options *o)
{
	enum { CHAINS_SHOWN = 20, TREND_STEPS = 32 };
	struct report_view *v = &o->view;

	v->by_host = o->by_host && v->chains;
	o->profile.merge |= o->by_host && !v->chains ? CLASSES_BY_HOST : 0;
	v->rows.code = v->form == REPORT_XML;
	v->show_address |= v->rows.details;
	/* The list of chains is long: people get the first ones unless they choose a number. */
	if (v->chains == CHAINS_LIST && !report_form(v->form)->is_for_programs &&
	    v->threshold <= 0 && v->top == 0 && !o->all) {
		v->top = CHAINS_SHOWN;
		v->top_is_default = true;
	}
	if (v->trend) {
		o->profile.division.most = TREND_STEPS;
		o->profile.division.in_parts = true;
	}
	o->output = o->html ?: o->pprof ?: o->output;
	o->profile.symbol_cache = !o->no_symbol_cache;
	profile_report_configure(v, &o->profile);
}

int opreport_check(struct opreport_options *o, struct error *err)
{
	struct report_view *v = &o->view;
	int r;

	v->rows.symbols |= v->rows.details || v->calls;
	v->rows.merge_lib = o->profile.merge & CLASSES_MERGE_LIB;
	v->chosen.merge_runtime = o->profile.merge & CLASSES_MERGE_RUNTIME;
	v->sort.reverse = o->reverse;
	v->sort.long_names = v->long_names;
	v->chains = o->chains || o->pprof || o->perf_script ? CHAINS_LIST
		    : o->folded				    ? CHAINS_FOLDED
		    : o->children			    ? CHAINS_CHILDREN
							    : CHAINS_NONE;
	v->rows.symbols |= v->timeline == TIMELINE_SYMBOL;
	v->rows.merge_lib |= v->timeline == TIMELINE_IMAGE;
	v->rows.merge_lib &= v->timeline != TIMELINE_APPLICATION;
	v->rows.symbols |= v->trend;
	v->rows.merge_lib |= v->trend;
	v->rows.by_interpreter = v->native;
	v->rows.line = v->trend && o->line.file ? &o->line : NULL;
	v->rows.only = (v->trend && !v->rows.line) || (v->timeline == TIMELINE_SYMBOL &&
						       symbol_filter_is_set(&v->chosen.symbols))
			       ? &v->chosen.symbols
			       : NULL;
	v->chosen.native = v->native && v->chains;
	r = check_samples(o, err);
	if (r == 0)
		r = check_trend(o, err);
	if (r == 0)
		r = check_html(o, err);
	v->rows.symbols |= o->html != NULL;
	if (r == 0)
		r = check_timeline(o, err);
	if (r == 0)
		r = check_symbols(o, err);
	if (r == 0)
		r = check_rows(o, err);
	if (r == 0)
		r = check_native(o, err);
	if (r == 0)
		r = check_form(o, err);
	if (r == 0)
		r = check_chains(o, err);
	if (r == 0)
		complete(o);
	return r;
}

int opreport_check_pair(const struct opreport_options *o, struct error *err)
{
	const struct {
		bool is_given;
		const char *name;
	} alone[] = {
		{ o->view.calls, "--callgraph" },
		{ o->view.rows.details, "--details" },
		{ o->view.timeline, "--timeline" },
		{ o->view.outer, "--folded=host, =cgroup or =comm" },
		{ o->view.trend, "--history-of" },
		{ o->pprof, "--pprof" },
		{ o->perf_script, "--perf-script" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(alone); i++)
		if (alone[i].is_given)
			return error_set(err, -EINVAL, "%s cannot compare two profiles",
					 alone[i].name);
	return 0;
}

void opreport_fit(struct opreport_options *o, FILE *out)
{
	enum { ROWS_SHOWN = 30 };
	struct report_view *v = &o->view;

	screen_open(&o->screen, out);
	v->width = o->screen.width;
	v->colour = o->screen.colour;
	v->terminal = o->screen.is_terminal;
	v->decimals = o->screen.decimals;
	if (v->terminal && v->form == REPORT_TEXT && v->chains != CHAINS_FOLDED && !o->all &&
	    !v->top && v->threshold <= 0) {
		v->top = ROWS_SHOWN;
		v->top_is_default = true;
	}
	profile_report_narrow(v, &o->profile);
}

char *opreport_words(const char *first, size_t count, char *const *words)
{
	struct strbuf text = STRBUF_INIT;
	size_t i;

	strbuf_adds(&text, first);
	for (i = 0; i < count; i++)
		strbuf_addf(&text, "%s%s", text.length ? " " : "", words[i]);
	return strbuf_take(&text);
}

static const char *if_true(bool is_given)
{
	return is_given ? "true" : NULL;
}

const struct report_option *opreport_show(const struct opreport_options *o,
					  const char *specification)
{
	static struct report_option list[16];
	static char threshold[32];
	const struct report_view *v = &o->view;
	const struct report_option shown[] = {
		{ "specification", specification },
		{ "sessiondir", o->profile.session_dir },
		{ "imagepath", o->profile.binaries.image_paths },
		{ "root", o->profile.binaries.root },
		{ "symbols", if_true(v->rows.symbols) },
		{ "callgraph", if_true(v->calls) },
		{ "details", if_true(v->rows.details) },
		{ "debuginfo", if_true(v->rows.lines) },
		{ "inlines", if_true(v->rows.inlines) },
		{ "excludedependent", if_true(v->rows.exclude_dependent) },
		{ "mergelib", if_true(v->rows.merge_lib) },
		{ "threshold", v->threshold > 0 ? threshold : NULL },
		{ "demangle", reporting_demangle(&v->names) },
	};
	static_assert(ARRAY_SIZE(shown) < ARRAY_SIZE(list), "room for the end");

	(void)snprintf(threshold, sizeof(threshold), "%g", v->threshold);
	memcpy(list, shown, sizeof(shown));
	return list;
}
