/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opreport: where the samples of a session went, by image or by symbol. */
#include "tools/opreport/opreport_chains.h"
#include "tools/opreport/opreport_options.h"
#include "tools/common/progress.h"
#include "tools/common/reporting.h"
#include "tools/common/tool.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "symbol/smartname.h"
#include "profile/binary/binary.h"
#include "profile/rows/callgraph.h"
#include "profile/rows/diff_match.h"
#include "profile/rows/chains.h"
#include "profile/binary/fetch.h"
#include "profile/print/losses.h"
#include "profile/print/report_header.h"
#include "profile/select/by_image.h"
#include "profile/rows/populate.h"
#include "profile/print/report.h"
#include "profile/select/symfilter.h"
#include "profile/rows/unresolved.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct opreport_options options;

static int set_merge(const char *arg, void *target, struct error *err)
{
	int bits = classes_merge_parse(arg, err);

	(void)target;
	options.merge |= bits < 0 ? 0 : (unsigned int)bits;
	return bits < 0 ? bits : 0;
}

static int set_sort(const char *arg, void *target, struct error *err)
{
	return sort_parse(arg, target, err);
}

static int set_compare(const char *arg, void *target, struct error *err)
{
	int by = diff_by_parse(arg, err);

	(void)target;
	options.compare_by = by < 0 ? DIFF_SHARE : (enum diff_by)by;
	return by < 0 ? by : 0;
}

static const struct opt opts[] = {
	{ 0, "what to report", OPT_HEADING, NULL, NULL, "What to report" },
	{ 'l', "symbols", OPT_FLAG, &options.symbols, NULL, "a line a symbol, not an image" },
	{ 'd', "details", OPT_FLAG, &options.details, NULL,
	  "below each symbol a line an address (implies -l)" },
	{ 'i', "include-symbols", OPT_CALL, &options.chosen.include, "LIST",
	  "with -l: only these symbols (NAME, PATTERN, NAME[IMAGE])", reporting_set_symbols },
	{ 'e', "exclude-symbols", OPT_CALL, &options.chosen.exclude, "LIST",
	  "with -l: not these symbols", reporting_set_symbols },
	{ 'c', "callgraph", OPT_FLAG, &options.calls, NULL,
	  "a block a symbol: its callers, itself, what it calls" },
	{ 0, "chains", OPT_FLAG, &options.chains, NULL, "whole call chains, the hottest first" },
	{ 0, "folded", OPT_FLAG, &options.folded, NULL,
	  "call chains folded into lines, for flame graphs" },
	{ 0, "children", OPT_FLAG, &options.children, NULL,
	  "functions by the samples with them anywhere in the call chain" },
	{ 0, "quality", OPT_FLAG, &options.quality, NULL,
	  "with these or -c: where and why call chains end, by image" },
	{ 'x', "exclude-dependent", OPT_FLAG, &options.exclude_dependent, NULL,
	  "only samples in the applications' own images" },
	{ 'm', "merge", OPT_CALL, NULL, "LIST",
	  "do not tell apart: cgroup, cpu, tid, tgid, unitmask (columns), lib (applications), all",
	  set_merge },
	{ 't', "threshold", OPT_CALL, &options.threshold, "PERCENT",
	  "leave rows below this share out, and say how much that is", reporting_set_threshold },
	{ 0, "top", OPT_U64, &options.top, "N",
	  "only the first N rows (blocks, applications), and say how much the others are" },
	{ 0, "compare", OPT_CALL, NULL, "WHAT",
	  "of two profiles ({ FIRST } { SECOND }): share (default) or samples", set_compare },
	{ 0, "how to show it", OPT_HEADING, NULL, NULL, "How to show it" },
	{ 's', "sort", OPT_CALL, &options.sort, "LIST",
	  "order by sample, image, app-name, symbol, vma, debug (default: sample)", set_sort },
	{ 'r', "reverse-sort", OPT_FLAG, &options.reverse, NULL, "the other way round" },
	{ 'f', "long-filenames", OPT_FLAG, &options.long_names, NULL, "whole paths of images" },
	{ 'w', "show-address", OPT_FLAG, &options.show_address, NULL,
	  "with -l: a column of addresses" },
	{ 'g', "debug-info", OPT_FLAG, &options.lines, NULL,
	  "with -l: a column of source files and lines" },
	{ 0, "inlines", OPT_FLAG, &options.inlines, NULL,
	  "with -l or chains: inlined functions as functions of their own" },
	{ 'a', "accumulated", OPT_FLAG, &options.accumulated, NULL,
	  "with -l: columns of running sums" },
	{ 0, "errors", OPT_FLAG, &options.errors, NULL,
	  "the interval that each percentage is in, at 95 %" },
	{ '%', "global-percent", OPT_FLAG, &options.global_percent, NULL,
	  "percentages of all samples, not of the application's or, with -d, the symbol's" },
	{ 'D', "demangle", OPT_CALL, &options.names, "KIND",
	  "none, normal (default) or smart: shorter, without what goes without saying",
	  reporting_set_demangle },
	{ 'W', "wide", OPT_FLAG, &options.wide, NULL, "cut no names to fit the terminal" },
	{ 'n', "no-header", OPT_FLAG, &options.no_header, NULL, "rows only" },
	{ 'X', "xml", OPT_FLAG, &options.xml, NULL, "as XML" },
	{ 0, "json", OPT_FLAG, &options.json, NULL, "as JSON" },
	{ 0, "csv", OPT_FLAG, &options.csv, NULL, "as comma-separated values" },
	{ 'o', "output-file", OPT_PATH, &options.output, "FILE", "into FILE" },
	{ 0, "where to look", OPT_HEADING, NULL, NULL, "Where to look" },
	{ 0, "session-dir", OPT_PATH, &options.session_dir, "DIR",
	  "the session directory (default: ./oprofile_data, else /var/lib/oprofile)" },
	{ 'p', "image-path", OPT_STRING, &options.image_path, "DIR,...",
	  "look for images, modules and debug files in these directories too" },
	{ 'R', "root", OPT_STRING, &options.root, "DIR", "images are below DIR" },
	{ 0, "no-symbol-cache", OPT_FLAG, &options.no_symbol_cache, NULL,
	  "read symbols anew and keep none for the next report" },
	{ 0, "debuginfod", OPT_CALL, &options.fetch, "[PERCENT]",
	  "get what is missing of images with at least PERCENT of the samples (1) from the servers "
	  "of $DEBUGINFOD_URLS",
	  reporting_set_debuginfod },
	{ 'V', "verbose", OPT_CALL, NULL, "[WHAT]", "say what is done, on standard error",
	  reporting_set_verbose },
	OPT_END
};

static const struct opt_cmdline cmdline = {
	.tool = "opreport",
	.usage = "[OPTION]... [SPECIFICATION]...\n"
		 "       opreport [OPTION]... -l { [SPECIFICATION]... } { [SPECIFICATION]... }",
	.summary = "Report where the samples of a profile went, by image or (-l) by symbol.",
	.epilog = "A specification narrows the report: the name of an image, or TAG:VALUE,... with "
		  "the tags archive, session, session-exclude, image, image-exclude, lib-image, "
		  "lib-image-exclude, event, count, unit-mask, cgroup, tgid, tid, cpu. See "
		  "opreport(1).",
	.opts = opts,
};

/* All that a report is made of; freed together. */
struct parts {
	struct spec spec;
	struct gather *gather;
	struct classes classes;
	struct by_image inverted;
	struct symcache *cache;
	struct binaries *binaries;
	struct container container;
	struct callgraph calls;
	struct chains chains; /* for their quality, where calls are reported */
	struct losses losses;
	struct unresolved unresolved;
	struct populate_stats stats;
	struct opreport_shown shown;
};

static void parts_done(struct parts *p)
{
	opreport_shown_done(&p->shown);
	losses_done(&p->losses);
	unresolved_done(&p->unresolved);
	callgraph_done(&p->calls);
	chains_done(&p->chains);
	container_done(&p->container);
	binaries_free(p->binaries);
	reporting_close_cache(p->cache);
	by_image_done(&p->inverted);
	classes_done(&p->classes);
	gather_free(p->gather);
	spec_done(&p->spec);
}

static void show_step(void *progress, size_t done, size_t all)
{
	progress_show(progress, done, all, "images read");
}

/* Opens the whole chains, whose quality the header tells; a profile may have none. */
static void open_chains(struct parts *p)
{
	struct error why = ERROR_INIT;
	int r = chains_open(&p->chains, p->gather, &p->spec, &why);

	p->chains.quality_only = true;
	if (r < 0 && r != -ENODATA)
		log_warn("%s", why.text);
}

/* From the specification to the filled container. 0 or negative. */
static int collect(struct parts *p, struct error *err)
{
	struct progress progress;
	struct binaries_config where = { .root = options.root,
					 .image_paths = options.image_path,
					 .keep = options.calls || options.form == REPORT_XML,
					 .symbols_only = !options.lines && !options.inlines &&
							 options.form != REPORT_XML };
	struct populate_config how = { .symbols = options.symbols,
				       .merge_lib = options.merge & CLASSES_MERGE_LIB,
				       .exclude_dependent = options.exclude_dependent,
				       .details = options.details,
				       .code = options.form == REPORT_XML,
				       .lines = options.lines,
				       .inlines = options.inlines,
				       .step = show_step,
				       .step_data = &progress };
	int r = gather_files(&p->spec, reporting_session_dir(options.session_dir, &p->spec),
			     options.calls, &p->gather, err);

	if (r < 0)
		return r;
	r = classes_arrange(p->gather, options.merge, &p->classes, err);
	if (r < 0)
		return r;
	if (spec_value(&p->spec, SPEC_ARCHIVE))
		where.root = spec_value(&p->spec, SPEC_ARCHIVE);
	by_image_group(p->gather, &p->classes, &p->inverted);
	if (options.calls)
		open_chains(p);
	if (options.symbols && !options.no_symbol_cache)
		where.cache = p->cache = reporting_open_cache();
	p->binaries = binaries_new(p->gather, &where);
	reporting_fetch(&options.fetch, p->gather, p->binaries);
	container_init(&p->container, p->classes.count);
	progress_init(&progress, "opreport", tool_can_redraw(STDERR_FILENO) ? stderr : NULL);
	populate_images(p->gather, &p->classes, &p->inverted, p->binaries, &how, &p->container,
			&p->stats);
	progress_done(&progress);
	if (options.calls)
		callgraph_collect(p->gather, &p->classes, p->binaries, &how, &p->container,
				  &p->calls, &p->stats);
	/* Without whole chains, the original's profiles, there is nothing to say of them. */
	if (p->chains.source_count)
		(void)chains_collect(&p->chains, p->binaries, NULL);
	if (options.calls && p->calls.raw.count == 0)
		log_warn("%s: no calls were sampled there; --callgraph of operf or opcontrol takes "
			 "them",
			 p->gather->sessions[0].samples);
	losses_collect(p->gather, &p->losses);
	p->container.weight = losses_weight(&p->losses);
	if (p->container.count == 0)
		return error_set(err, -ENODATA, "%s: %s", p->gather->sessions[0].samples,
				 p->stats.read ? "the sample files hold no samples"
					       : "no sample file can be read");
	return 0;
}

/* @before: the first of two profiles, or NULL. */
static void print(const struct parts *p, const struct parts *before, FILE *out)
{
	struct report_before first = { 0 };
	struct report report = { .gather = p->gather,
				 .classes = &p->classes,
				 .container = &p->container,
				 .calls = options.calls ? &p->calls : NULL,
				 .chains = p->chains.samples ? &p->chains : NULL,
				 .quality = options.quality,
				 .unresolved = before ? NULL : &p->unresolved,
				 .compare_by = options.compare_by,
				 .sort = &options.sort,
				 .header = p->stats.header,
				 .skipped = p->stats.bad + p->gather->skipped,
				 .timer_hz = report_header_timer_hz(p->gather),
				 .show_header = !options.no_header,
				 .long_names = options.long_names,
				 .show_address = options.show_address || options.details,
				 .symbols = options.symbols,
				 .details = options.details,
				 .lines = options.lines,
				 .accumulated = options.accumulated,
				 .global_percent = options.global_percent,
				 .merge_lib = options.merge & CLASSES_MERGE_LIB,
				 .errors = options.errors,
				 .threshold = options.threshold,
				 .top = options.top,
				 .width = options.wide ? 0 : tool_terminal_width(fileno(out)),
				 .colour = tool_colour(fileno(out)),
				 .terminal = isatty(fileno(out)),
				 .command = options.command,
				 .options = p->shown.list };

	if (before) {
		first = (struct report_before){ .words = { before->shown.words, p->shown.words },
						.losses = &before->losses,
						.skipped = before->stats.bad +
							   before->gather->skipped };
		report.before = &first;
	}
	report_form(options.form)->print(&report, &p->losses, out);
}

static int output(const struct parts *p, const struct parts *before, struct error *err)
{
	_cleanup_fclose_ FILE *file = options.output ? fopen(options.output, "we") : NULL;
	FILE *out = options.output ? file : stdout;

	if (!out)
		return error_errno(err, -errno, "%s", options.output);
	print(p, before, out);
	return tool_flush(out, options.output, err);
}

/* Of a list of chains for people, which is long, only the first where nobody says how many. */
static size_t default_top(void)
{
	enum { CHAINS_SHOWN = 20 };
	bool is_list = options.chains && !options.json;

	return is_list && options.threshold <= 0 ? CHAINS_SHOWN : 0;
}

/* The other road: whole call chains. */
static int print_chains(const struct spec *spec, FILE *out, struct error *err)
{
	const char *archive = spec_value(spec, SPEC_ARCHIVE);
	struct chains_request request = {
		.spec = spec,
		.session_dir = reporting_session_dir(options.session_dir, spec),
		.where = { .root = archive ? archive : options.root,
			   .image_paths = options.image_path,
			   .symbols_only = !options.inlines },
		.inlines = options.inlines,
		.view = { .form = options.folded     ? CHAINS_FOLDED
				  : options.children ? CHAINS_CHILDREN
						     : CHAINS_LIST,
			  .top = options.top ? options.top : default_top() },
		.quality = options.quality,
		.json = options.json,
		.names = &options.names,
		.show_header = !options.no_header,
		.long_names = options.long_names,
		.threshold = options.threshold,
	};
	int r;

	if (!options.no_symbol_cache)
		request.where.cache = reporting_open_cache();
	r = opreport_chains(&request, out, err);
	reporting_close_cache(request.where.cache);
	return r;
}

static int report_chains(size_t count, char *const *words, struct error *err)
{
	_cleanup_(spec_done) struct spec spec = { 0 };
	_cleanup_fclose_ FILE *file = NULL;
	int r = spec_parse(words, count, &spec, err);

	if (r == 0 && options.output && !(file = fopen(options.output, "we")))
		r = error_errno(err, -errno, "%s", options.output);
	if (r < 0)
		return r;
	r = print_chains(&spec, file ? file : stdout, err);
	return r < 0 ? r : tool_flush(file ? file : stdout, options.output, err);
}

/* One profile from its specification to rows: those that are chosen. */
static int make_rows(struct parts *p, size_t count, char *const *words, struct error *err)
{
	int r = spec_parse(words, count, &p->spec, err);

	if (r < 0)
		return r;
	r = collect(p, err);
	if (r < 0)
		return r;
	opreport_show(&options, &p->shown, (int)count, words);
	if (symbol_filter_is_set(&options.chosen))
		container_choose(&p->container, p->gather, &options.chosen, options.calls);
	return 0;
}

/* From all rows to those that are shown, in order. */
static void arrange_rows(struct parts *p)
{
	bool cut =
		(options.symbols || report_form(options.form)->is_for_programs) && !options.calls;

	if (cut)
		container_cut(&p->container, options.threshold);
	container_name(&p->container, &options.names);
	sort_rows(&p->container, p->gather, &options.sort);
	if (cut)
		container_top(&p->container, options.top);
	if (options.calls) {
		callgraph_arrange(&p->calls, &p->container);
		callgraph_cut(&p->calls, p->gather, &p->container, options.threshold, options.top);
	}
}

static int report(size_t count, char *const *words, struct error *err)
{
	_cleanup_(parts_done) struct parts p = { 0 };
	int r = make_rows(&p, count, words, err);

	if (r < 0)
		return r;
	unresolved_collect(&p.container, p.gather, &p.unresolved);
	arrange_rows(&p);
	return output(&p, NULL, err);
}

static int compare(const struct spec_pair *pair, struct error *err)
{
	_cleanup_(parts_done) struct parts first = { 0 }, second = { 0 };
	int r = make_rows(&first, pair->count[0], pair->words[0], err);

	if (r == 0)
		r = make_rows(&second, pair->count[1], pair->words[1], err);
	if (r == 0)
		r = diff_compare(&(struct diff_side){ first.gather, first.binaries, &first.classes,
						      &first.container },
				 &(struct diff_side){ second.gather, second.binaries,
						      &second.classes, &second.container },
				 err);
	if (r < 0)
		return r;
	arrange_rows(&second);
	return output(&second, &first, err);
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	struct spec_pair pair;
	int operands, is_pair, r;

	options.command = opreport_words("opreport", argc - 1, argv + 1);
	(void)sort_parse(NULL, &options.sort, &err);
	operands = tool_options(&cmdline, argc, argv);
	options.symbols |= options.details;
	options.symbols |= options.calls;
	options.sort.reverse = options.reverse;
	options.sort.long_names = options.long_names;
	if (opreport_check(&options, &err) < 0)
		return tool_usage("%s", err.text);
	is_pair = spec_split(argv + operands, (size_t)(argc - operands), &pair, &err);
	if (is_pair < 0 || (is_pair && opreport_check_pair(&options, &err) < 0))
		return tool_usage("%s", err.text);
	if (is_pair)
		r = compare(&pair, &err);
	else
		r = (opreport_of_chains(&options) ? report_chains : report)(
			(size_t)(argc - operands), argv + operands, &err);
	if (r < 0)
		return tool_fail(&err);
	return 0;
}
