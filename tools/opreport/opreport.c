/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opreport: where the samples of a session went, by image or by symbol. */
#include "tools/common/braces.h"
#include "tools/opreport/opreport_options.h"
#include "tools/opreport/opreport_page.h"
#include "tools/common/confine.h"
#include "tools/common/progress.h"
#include "tools/common/reporting.h"
#include "tools/common/tool.h"

#include "base/mem.h"
#include "file/owner.h"
#include "file/path.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static struct opreport_options options;

/* What --output-file names. */
static struct {
	FILE *file;
	bool is_new;
} output;

static int set_merge(const char *arg, void *target _unused_, struct error *err)
{
	int bits = classes_merge_parse(arg, err);

	options.profile.merge |= bits < 0 ? 0 : (unsigned int)bits;
	return bits < 0 ? bits : 0;
}

static int set_sort(const char *arg, void *target, struct error *err)
{
	return sort_parse(arg, target, err);
}

static int set_folded(const char *arg, void *target _unused_, struct error *err)
{
	int outer = chains_outer_parse(arg, err);

	options.folded = true;
	options.view.outer = outer < 0 ? CHAINS_OUTER_APP : (enum chains_outer)outer;
	return MIN(outer, 0);
}

static int set_timeline(const char *arg, void *target _unused_, struct error *err)
{
	int by = timeline_by_parse(arg, err);

	options.view.timeline = by < 0 ? TIMELINE_NONE : (enum timeline_by)by;
	return by < 0 ? by : 0;
}

/* A line of a source file. A name with a slash at its start, or in brackets, is an image. */
static int set_history_of(const char *arg, void *target, struct error *err)
{
	_cleanup_free_ char *image = *arg == '/'   ? xasprintf("*[%s]", arg)
				     : *arg == '[' ? xasprintf("*%s", arg)
						   : NULL;

	if (!*arg)
		return error_set(err, -EINVAL,
				 "--history-of: give the name of a function, [IMAGE], /PATH or "
				 "FILE:LINE");
	options.view.trend = true;
	line_choice_done(&options.line);
	if (line_choice_parse(arg, &options.line))
		return 0;
	return reporting_set_symbols(image ?: arg, target, err);
}

static int set_step(const char *arg, void *target, struct error *err)
{
	int64_t *length_ms = target;

	if (window_duration(arg, length_ms) < 0 || !*length_ms)
		return error_set(err, -EINVAL,
				 "--step: '%s' is not a length of time; write for example 10s, 5m, "
				 "1h30m, 1d",
				 arg);
	return 0;
}

static int set_compare(const char *arg, void *target _unused_, struct error *err)
{
	int by = diff_by_parse(arg, err);

	options.view.compare_by = by < 0 ? DIFF_SHARE : (enum diff_by)by;
	return by < 0 ? by : 0;
}

static const struct opt opts[] = {
	{ 0, "what to report", OPT_HEADING, NULL, NULL, "What to report" },
	{ 'l', "symbols", OPT_FLAG, &options.view.rows.symbols, NULL,
	  "one line per symbol instead of per image" },
	{ 'd', "details", OPT_FLAG, &options.view.rows.details, NULL,
	  "below each symbol, one line per address (implies -l)" },
	{ 'i', "include-symbols", OPT_CALL, &options.view.chosen.symbols.include, "LIST",
	  "with -l or -c: only these symbols (NAME, PATTERN, NAME[IMAGE]); with chains: as --focus",
	  reporting_set_symbols },
	{ 'e', "exclude-symbols", OPT_CALL, &options.view.chosen.symbols.exclude, "LIST",
	  "with -l or -c: not these symbols; with chains: as --drop", reporting_set_symbols },
	{ 'c', "callgraph", OPT_FLAG, &options.view.calls, NULL,
	  "one block per symbol: its callers, itself, its callees" },
	{ 0, "chains", OPT_FLAG, &options.chains, NULL, "whole call chains, the hottest first" },
	{ 0, "folded", OPT_CALL, NULL, "[WHAT]",
	  "call chains folded into lines, for flame graphs, which begin with the application; "
	  "host, cgroup, comm: with the host, cgroup, or the thread's name, before it",
	  set_folded },
	{ 0, "children", OPT_FLAG, &options.children, NULL,
	  "functions by the samples with them anywhere in the call chain" },
	{ 0, "focus", OPT_CALL, &options.view.chosen.symbols.include, "LIST",
	  "with chains: only chains through one of these functions", reporting_set_symbols },
	{ 0, "drop", OPT_CALL, &options.view.chosen.symbols.exclude, "LIST",
	  "with chains: no chains through any of these functions", reporting_set_symbols },
	{ 0, "hide", OPT_CALL, &options.view.chosen.hide, "LIST",
	  "with chains: leave these functions out of the chains", reporting_set_symbols },
	{ 0, "callers-of", OPT_CALL, &options.view.chosen.callers_of, "LIST",
	  "with chains: only chains through one of these functions, without what it calls",
	  reporting_set_symbols },
	{ 0, "ignore", OPT_CALL, &options.view.chosen.symbols.exclude, "LIST", NULL,
	  reporting_set_symbols },
	{ 0, "timeline", OPT_CALL, NULL, "[WHAT]",
	  "when the samples were taken, a row per image (default), symbol, application, host, "
	  "cgroup, comm or event",
	  set_timeline },
	{ 0, "history-of", OPT_CALL, &options.view.chosen.symbols.include, "LIST",
	  "how the share of functions (as for -i), an image (/PATH, [NAME]) or a line (FILE:LINE) "
	  "changed with time and by build",
	  set_history_of },
	{ 0, "step", OPT_CALL, &options.profile.division.length_ms, "LENGTH",
	  "with --timeline or --history-of: a step of time (default: as fits)", set_step },
	{ 0, "quality", OPT_FLAG, &options.view.quality, NULL,
	  "with these or -c: where and why call chains end, by image" },
	{ 'x', "exclude-dependent", OPT_FLAG, &options.view.rows.exclude_dependent, NULL,
	  "only samples in the applications' own images" },
	{ 'm', "merge", OPT_CALL, NULL, "LIST",
	  "merge these: cgroup, comm, cpu, tid, tgid, unitmask (columns), lib (applications), "
	  "runtime (frames of interpreters), all",
	  set_merge },
	{ 't', "threshold", OPT_CALL, &options.view.threshold, "PERCENT",
	  "leave out rows below this share, and print their sum", reporting_set_threshold },
	{ 0, "top", OPT_U64, &options.view.top, "N",
	  "only the first N rows (blocks, applications), and the sum of the others" },
	{ 0, "all", OPT_FLAG, &options.all, NULL,
	  "on a terminal: all rows (default: the first 30)" },
	{ 0, "compare", OPT_CALL, NULL, "WHAT",
	  "compare two profiles ({ FIRST } { SECOND }) by share (default) or samples",
	  set_compare },
	{ 0, "how to show it", OPT_HEADING, NULL, NULL, "How to show it" },
	{ 's', "sort", OPT_CALL, &options.view.sort, "LIST",
	  "order by sample, difference, image, app-name, symbol, vma, debug (default: sample; of "
	  "two "
	  "profiles, difference)",
	  set_sort },
	{ 'r', "reverse-sort", OPT_FLAG, &options.reverse, NULL, "reverse the order" },
	{ 'f', "long-filenames", OPT_FLAG, &options.view.long_names, NULL,
	  "whole paths of images" },
	{ 'w', "show-address", OPT_FLAG, &options.view.show_address, NULL,
	  "with -l: a column of addresses" },
	{ 'g', "debug-info", OPT_FLAG, &options.view.rows.lines, NULL,
	  "with -l: a column of source files and lines" },
	{ 0, "inlines", OPT_FLAG, &options.view.rows.inlines, NULL,
	  "with -l or chains: inlined functions as functions of their own" },
	{ 0, "native", OPT_FLAG, &options.view.native, NULL,
	  "with -l or chains: interpreted functions count for the interpreter's loop" },
	{ 0, "separate-hosts", OPT_FLAG, &options.by_host, NULL, "a column for each host" },
	{ 0, "separate-regions", OPT_FLAG, &options.view.rows.regions, NULL,
	  "each region of JIT code as an image of its own" },
	{ 'a', "accumulated", OPT_FLAG, &options.view.accumulated, NULL,
	  "with -l: columns of running sums" },
	{ 0, "errors", OPT_FLAG, &options.view.errors, NULL,
	  "the interval that each percentage is in, at 95 %" },
	{ '%', "global-percent", OPT_FLAG, &options.view.global_percent, NULL,
	  "percentages of all samples, not of the application's or, with -d, the symbol's" },
	REPORTING_DEMANGLE(options.view.names),
	SCREEN_OPTIONS(options.screen),
	{ 'n', "no-header", OPT_FLAG, &options.view.no_header, NULL, "rows only" },
	{ 'X', "xml", OPT_FLAG, &options.xml, NULL, "as XML" },
	{ 0, "json", OPT_FLAG, &options.json, NULL, "as JSON" },
	{ 0, "csv", OPT_FLAG, &options.csv, NULL, "as comma-separated values" },
	{ 0, "html", OPT_PATH, &options.html, "FILE",
	  "into FILE, as one page for a browser with flame graph, functions and timeline" },
	{ 0, "pprof", OPT_PATH, &options.pprof, "FILE",
	  "into FILE, call chains as a compressed profile for pprof" },
	{ 0, "perf-script", OPT_FLAG, &options.perf_script, NULL,
	  "call chains as perf script prints samples, for tools that read that" },
	{ 'o', "output-file", OPT_PATH, &options.output, "FILE", "into FILE" },
	{ 0, "where to look", OPT_HEADING, NULL, NULL, "Where to look" },
	REPORTING_SESSION_DIR(options.profile),
	REPORTING_IMAGE_PATH(options.profile),
	REPORTING_ROOT(options.profile),
	REPORTING_NO_SYMBOL_CACHE(options.no_symbol_cache),
	{ 0, "debuginfod", OPT_CALL, &options.profile.fetch, "[PERCENT]",
	  "download missing files of images with at least PERCENT of the samples (1) from "
	  "$DEBUGINFOD_URLS",
	  reporting_set_debuginfod },
	REPORTING_MAX_SIZE(options.profile),
	CONFINE_OPTION,
	TOOL_VERBOSE_OPTION,
	OPT_END
};

static const struct opt_cmdline cmdline = {
	.tool = "opreport",
	.usage = "[OPTION]... [SPECIFICATION]...\n"
		 "       opreport [OPTION]... -l { [SPECIFICATION]... } { [SPECIFICATION]... }",
	.summary = "Report where the samples of a profile went, by image or (-l) by symbol.",
	.epilog = "A specification narrows the report: the name of an image, or TAG:VALUE,... with "
		  "the tags archive, session, session-exclude, host, time, image, "
		  "image-exclude, lib-image, lib-image-exclude, event, count, unit-mask, cgroup, "
		  "comm, tgid, tid, cpu. See opreport(1).",
	.opts = opts,
};

/* A profile and its rows. */
struct parts {
	struct profile *profile;
	struct profile_report report;
};

static void parts_done(struct parts *p)
{
	profile_report_done(&p->report);
	profile_close(p->profile);
}

/* Shows the progress of reading images on standard error. */
static void show_step(void *data, size_t done, size_t all)
{
	struct progress *progress = data;

	if (done == 0)
		progress_init(progress, "opreport", tool_can_redraw(STDERR_FILENO) ? stderr : NULL);
	if (done < all)
		progress_show(progress, done, all, "images read");
	else
		progress_done(progress);
}

static int collect(struct parts *p, const struct braces *in, struct error *err)
{
	int r = reporting_open(&in->profile, in->count, in->words, &p->profile, err);

	return r < 0 ? r : profile_report_collect(p->profile, &options.view, &p->report, err);
}

/* Opens the output before this process is confined; the file keeps its contents until print(). */
static int open_output(struct error *err)
{
	int fd = open(options.output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	output.is_new = fd >= 0;
	if (fd < 0 && errno == EEXIST)
		fd = open(options.output, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	output.file = fd >= 0 ? fdopen(fd, "w") : NULL;
	return output.file ? 0 : error_errno(err, -errno, "%s", options.output);
}

/* Where the report is printed, after it was collected. */
static FILE *begin_output(void)
{
	if (options.output)
		(void)!ftruncate(fileno(output.file), 0); /* pipes and devices have no length */
	return options.output ? output.file : stdout;
}

static int print(struct parts *p, struct error *err)
{
	FILE *out = begin_output();

	profile_report_print(&p->report, out);
	return tool_flush(out, options.output, err);
}

/* Prints the page of the profiles. */
static int print_page(const struct braces *sides, size_t count, struct error *err)
{
	_cleanup_(opreport_page_done) struct opreport_page page = { 0 };
	int r = opreport_page_collect(&options, sides, count, &page, err);
	FILE *out;

	if (r < 0)
		return r;
	if (count > 1)
		braces_warn_same(page.sides[0].page.profile->gather,
				 page.sides[1].page.profile->gather);
	out = begin_output();
	opreport_page_print(&page, out);
	return tool_flush(out, options.output, err);
}

/* Chooses how many columns of time there may be: what numbers and names leave of the terminal. */
static void fit_timeline(void)
{
	enum { OTHER_COLUMNS = 48, LEAST = 12, MOST = 120, ELSEWHERE = 60 };
	unsigned int width = options.view.width;
	bool is_text = options.view.form == REPORT_TEXT;

	options.view.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	options.profile.division.most = !is_text || !width		? ELSEWHERE
					: width < OTHER_COLUMNS + LEAST ? LEAST
					: width > OTHER_COLUMNS + MOST	? MOST
									: width - OTHER_COLUMNS;
}

static int report(size_t count, char **words, struct error *err)
{
	_cleanup_free_ char *specification = opreport_words("", count, words);
	const struct braces all = { .profile = options.profile, .words = words, .count = count };
	_cleanup_(parts_done) struct parts p = { 0 };
	int r;

	if (options.html)
		return print_page(&all, 1, err);
	r = collect(&p, &all, err);
	if (r < 0)
		return r;
	options.view.options = opreport_show(&options, count ? specification : NULL);
	return print(&p, err);
}

static int compare(const struct braces sides[2], struct error *err)
{
	_cleanup_(parts_done) struct parts a = { 0 }, b = { 0 };
	int r = collect(&a, &sides[0], err);

	if (r == 0)
		r = collect(&b, &sides[1], err);
	if (r < 0)
		return r;
	braces_warn_same(a.profile->gather, b.profile->gather);
	r = profile_report_compare(&a.report, &b.report, err);
	if (r < 0)
		return r;
	b.report.words[0] = sides[0].text;
	b.report.words[1] = sides[1].text;
	return print(&b, err);
}

struct sides {
	struct braces sides[2];
};

static void sides_done(struct sides *s)
{
	braces_done(&s->sides[0]);
	braces_done(&s->sides[1]);
}

/* Parses the words in both braces, which are some of @all. 0 or -EINVAL. */
static int parse_pair(const struct spec_pair *pair, char **all, struct sides *s, struct error *err)
{
	unsigned int i;

	if (opreport_check_pair(&options, err) < 0)
		return -EINVAL;
	for (i = 0; i < 2; i++)
		reporting_tag_archives(pair->count[i], all + (pair->words[i] - all));
	return braces_parse_pair(pair, &options.profile, &cmdline, s->sides, err);
}

static int compare_braces(struct sides *s, struct error *err)
{
	braces_renew(&s->sides[0], &options.profile);
	braces_renew(&s->sides[1], &options.profile);
	return options.html ? print_page(s->sides, 2, err) : compare(s->sides, err);
}

/* Removes a new output file of a report that failed; returns @status. */
static int finish(int status)
{
	if (status && output.is_new) {
		(void)owner_pause();
		(void)unlink(options.output);
	}
	return status;
}

int main(int argc, char **argv)
{
	_cleanup_free_ char *command = opreport_words("opreport", (size_t)(argc - 1), argv + 1);
	_cleanup_(spec_pair_done) struct spec_pair pair = { 0 };
	_cleanup_(sides_done) struct sides sides = { 0 };
	struct error err = ERROR_INIT, bad_pair = ERROR_INIT;
	struct progress progress;
	char **all = argv;
	int operands, is_pair, status = 0, r;

	(void)setlocale(LC_CTYPE, "");
	(void)sort_parse(NULL, &options.view.sort, &err);
	options.view.command = command;
	options.view.rows.step = show_step;
	options.view.rows.step_data = &progress;
	is_pair = spec_split(argv, (size_t)argc, &pair, &bad_pair);
	if (is_pair > 0) {
		argv = pair.outside;
		argc = (int)pair.outside_count;
	}
	options.view.compares = is_pair > 0;
	operands = tool_options(&cmdline, argc, argv);
	if (is_pair > 0 && operands < argc)
		is_pair = spec_bad_pair(&bad_pair);
	if (is_pair < 0)
		return tool_usage("%s", bad_pair.text);
	if (opreport_check(&options, &err) < 0 ||
	    (is_pair && parse_pair(&pair, all, &sides, &err) < 0))
		return tool_usage("%s", err.text);
	if (!is_pair)
		reporting_tag_archives((size_t)(argc - operands), argv + operands);
	r = options.output ? open_output(&err) : 0;
	if (r == 0)
		opreport_fit(&options, options.output ? output.file : stdout);
	if (r == 0 && options.view.timeline)
		fit_timeline();
	if (r == 0)
		r = is_pair ? braces_become_owner(sides.sides, options.output, &err)
			    : reporting_become_owner(&options.profile, options.output, all, &err);
	if (r == 0)
		r = reporting_confine(&options.profile, NULL, all, &status, &err);
	if (r == 0)
		r = is_pair ? compare_braces(&sides, &err)
			    : report((size_t)(argc - operands), argv + operands, &err);
	return finish(r < 0 ? tool_fail(&err) : status);
}
