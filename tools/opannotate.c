/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opannotate: sources and code with the samples of each line before it. */
#include "tools/common/braces.h"
#include "tools/common/confine.h"
#include "tools/common/reporting.h"
#include "tools/common/screen.h"
#include "tools/common/tool.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "file/path.h"
#include "profile/annotate/annotate_asm.h"
#include "profile/annotate/annotate_diff.h"
#include "profile/annotate/annotate_source.h"
#include "profile/annotate/annotate_text.h"
#include "profile/annotate/annotate_json.h"
#include "profile/annotate/annotate_top.h"
#include "profile/binary/sources.h"
#include "profile/profile.h"
#include "profile/rows/chain_calls.h"

#include <errno.h>
#include <string.h>

static struct {
	bool source, assembly;
	bool show_bytes;    /* of instructions */
	char *disassembler; /* its options */
	bool json, children;
	uint64_t top; /* symbols; 0: all */
	struct annotate_config config;
	const char *output_dir, *search_dirs, *base_dirs;
	struct profile_config profile;
	struct screen screen;
} options = { .profile = { .merge = CLASSES_MERGE_LIB, .binaries = { .code = true } } };

static int set_merge(const char *arg, void *target _unused_, struct error *err)
{
	int bits = classes_merge_parse(arg, err);

	if (bits > 0 && (bits & CLASSES_MERGE_RUNTIME))
		return error_set(err, -EINVAL,
				 "--merge=runtime is about call chains; see opreport(1)");
	options.profile.merge |= bits < 0 ? 0 : (unsigned int)bits;
	return bits < 0 ? bits : 0;
}

static int set_patterns(const char *arg, void *target, struct error *err _unused_)
{
	patterns_add(target, arg);
	return 0;
}

/* One word of --objdump-params; a word that needs another is kept in @pending. */
static int add_param(const char *word, bool *pending, struct error *err)
{
	static const char *const long_name = "--disassembler-options=";
	const char *value = NULL;

	if (*pending)
		value = word;
	else if (!strncmp(word, long_name, strlen(long_name)))
		value = word + strlen(long_name);
	else if (!strncmp(word, "-M", 2) && word[2])
		value = word + 2;
	*pending = !value && !strcmp(word, "-M");
	if (value) {
		char *all = options.disassembler ? xasprintf("%s,%s", options.disassembler, value)
						 : xstrdup(value);

		free(options.disassembler);
		options.disassembler = all;
	} else if (!strcmp(word, "--show-raw-insn") || !strcmp(word, "--no-show-raw-insn")) {
		options.show_bytes = word[2] == 's';
	} else if (!*pending) {
		return error_set(err, -EINVAL,
				 "--objdump-params: '%s' is not one of -M OPTIONS, "
				 "--disassembler-options=OPTIONS, --show-raw-insn, "
				 "--no-show-raw-insn",
				 word);
	}
	return 0;
}

static int set_objdump_params(const char *arg, void *target _unused_, struct error *err)
{
	_cleanup_free_ char *copy = xstrdup(arg);
	bool pending = false;
	char *word, *rest = copy;

	while ((word = strsep(&rest, " "))) {
		int r = *word ? add_param(word, &pending, err) : 0;

		if (r < 0)
			return r;
	}
	if (pending)
		return error_set(err, -EINVAL, "--objdump-params: -M needs an argument");
	return 0;
}

static const struct opt opts[] = {
	{ 0, "what to show", OPT_HEADING, NULL, NULL, "What to show" },
	{ 's', "source", OPT_FLAG, &options.source, NULL,
	  "sources, with the samples of each line" },
	{ 'a', "assembly", OPT_FLAG, &options.assembly, NULL,
	  "code, with the samples of each instruction; with --source also the lines it came from" },
	{ 0, "json", OPT_FLAG, &options.json, NULL,
	  "functions with their instructions and source lines, for programs" },
	{ 0, "children", OPT_FLAG, &options.children, NULL,
	  "a second pair of columns: with the samples of what lines and instructions call" },
	{ 'i', "include-symbols", OPT_CALL, &options.config.symbols.include, "LIST",
	  "only samples in these symbols (NAME, PATTERN, NAME[IMAGE])", reporting_set_symbols },
	{ 'e', "exclude-symbols", OPT_CALL, &options.config.symbols.exclude, "LIST",
	  "no samples in these symbols", reporting_set_symbols },
	{ 0, "include-file", OPT_CALL, &options.config.include_files, "LIST",
	  "with --source: only these source files (names or patterns)", set_patterns },
	{ 0, "exclude-file", OPT_CALL, &options.config.exclude_files, "LIST",
	  "with --source: not these source files", set_patterns },
	{ 0, "top", OPT_U64, &options.top, "N",
	  "only the N symbols with the most samples (of two profiles: with the greatest "
	  "differences), of those that are selected" },
	{ 't', "threshold", OPT_CALL, &options.config.threshold, "PERCENT",
	  "leave out files and symbols below this share", reporting_set_threshold },
	{ 'x', "exclude-dependent", OPT_FLAG, &options.config.exclude_dependent, NULL,
	  "only samples in the applications' own images" },
	{ 'm', "merge", OPT_CALL, NULL, "LIST",
	  "merge these: cgroup, comm, cpu, tid, tgid, unitmask (columns), all", set_merge },
	{ 0, "how to show it", OPT_HEADING, NULL, NULL, "How to show it" },
	{ 'o', "output-dir", OPT_PATH, &options.output_dir, "DIR",
	  "with --source: a file for each source, below DIR" },
	{ 0, "objdump-params", OPT_CALL, NULL, "PARAMS",
	  "with --assembly: -M OPTIONS (such as -M intel), --show-raw-insn", set_objdump_params },
	REPORTING_DEMANGLE(options.config.names),
	SCREEN_OPTIONS(options.screen),
	{ 0, "where to look", OPT_HEADING, NULL, NULL, "Where to look" },
	{ 'd', "search-dirs", OPT_STRING, &options.search_dirs, "DIR,...",
	  "look for sources in these directories too" },
	{ 'b', "base-dirs", OPT_STRING, &options.base_dirs, "DIR,...",
	  "with --search-dirs: strip these prefixes from the sources' paths" },
	{ 0, "session-dir", OPT_PATH, &options.profile.session_dir, "DIR",
	  "the session directory (default: ./oprofile_data, else /var/lib/oprofile)" },
	{ 'p', "image-path", OPT_STRING, &options.profile.binaries.image_paths, "DIR,...",
	  "look for images, modules and debug files in these directories too" },
	{ 'R', "root", OPT_STRING, &options.profile.binaries.root, "DIR",
	  "images and sources are below DIR" },
	{ 0, "debuginfod", OPT_CALL, &options.profile.fetch, "[PERCENT]",
	  "download missing files of images with at least PERCENT of the samples (1) from "
	  "$DEBUGINFOD_URLS",
	  reporting_set_debuginfod },
	{ 'k', "vmlinux", OPT_PATH, &options.profile.binaries.vmlinux, "FILE",
	  "the kernel that was profiled, with its code" },
	REPORTING_MAX_SIZE(options.profile),
	CONFINE_OPTION,
	TOOL_VERBOSE_OPTION,
	OPT_END
};

static const struct opt_cmdline cmdline = {
	.tool = "opannotate",
	.usage = "--source|--assembly|--json [OPTION]... [SPECIFICATION]...\n"
		 "       opannotate --source|--assembly|--json [OPTION]... { [SPECIFICATION]... } "
		 "{ [SPECIFICATION]... }",
	.summary = "Show sources or code with the samples of each line before it.",
	.epilog =
		"A specification narrows what is shown: the name of an image, or TAG:VALUE,... as "
		"in opreport(1). Two of them in braces are compared.",
	.opts = opts,
};

/* Everything needed until the end; freed together. */
struct parts {
	struct profile *profile;
	struct sources *sources;
	struct chain_calls *calls; /* or NULL */
	struct annotate annotate;
};

static void parts_done(struct parts *p)
{
	annotate_done(&p->annotate);
	chain_calls_free(p->calls);
	sources_free(p->sources);
	profile_close(p->profile);
}

enum { TOP_MAX = 10000 };

static int check_options(struct error *err)
{
	if (!options.source && !options.assembly && !options.json)
		return error_set(err, -EINVAL, "specify --source, --assembly, or both; or --json");
	if (options.json && (options.source || options.assembly || options.output_dir))
		return error_set(err, -EINVAL,
				 "--json has both source and code; it cannot be combined with "
				 "--source, --assembly and --output-dir");
	if (options.assembly && options.output_dir)
		return error_set(
			err, -EINVAL,
			"--output-dir cannot be combined with --assembly; it is for sources");
	if (options.assembly &&
	    (options.config.include_files.count || options.config.exclude_files.count))
		return error_set(err, -EINVAL,
				 "--include-file and --exclude-file cannot be combined with "
				 "--assembly; use --include-symbols or --exclude-symbols");
	if (!options.assembly && (options.disassembler || options.show_bytes))
		return error_set(err, -EINVAL, "--objdump-params needs --assembly");
	if (options.top > TOP_MAX)
		return error_set(err, -EINVAL, "--top: more than %d symbols", TOP_MAX);
	if (options.children) {
		options.profile.chains = PROFILE_CHAINS_NEEDED;
		options.profile.merge = CLASSES_MERGE_ALL;
	}
	if (options.base_dirs && !options.search_dirs)
		return error_set(err, -EINVAL, "--base-dirs needs --search-dirs");
	return 0;
}

/* Samples of an instruction are one number, and so are those of a call chain: those of two events
 * cannot be added up. */
static int check_events(const struct profile *p, struct error *err)
{
	if ((options.json || options.children) && p->classes.axes >> AXIS_EVENT & 1)
		return error_set(err, -EINVAL, "--%s is of one event; select it with event:NAME",
				 options.json ? "json" : "children");
	return 0;
}

/* Opens the profile and reads its samples. Returns 0 or -errno. */
static int collect(struct parts *parts, const struct braces *in, struct error *err)
{
	int r = reporting_open(&in->profile, in->count, in->words, &parts->profile, err);
	const struct profile *p = parts->profile;

	if (r < 0)
		return r;
	r = check_events(p, err);
	if (r == 0 && options.children)
		r = chain_calls_collect(&parts->profile->chains, NULL, &parts->calls, err);
	if (r < 0)
		return r;
	options.config.calls = parts->calls;
	parts->sources = profile_sources(p, options.search_dirs, options.base_dirs);
	annotate_collect(p->gather, &p->classes, &p->by_image, &options.config, &parts->annotate);
	if (gather_check_there(p->gather, err) < 0)
		return -ESTALE;
	if (parts->annotate.image_count == 0)
		return error_set(err, -ENODATA, "%s: %s", p->gather->sessions[0].samples,
				 parts->annotate.read ? "the sample files hold no samples"
						      : "no sample file can be read");
	return 0;
}

static void put(const struct strbuf *text)
{
	(void)fwrite(strbuf_text(text), 1, text->length, stdout);
}

static int show_sources(struct parts *p, const char *heading, struct error *err)
{
	_cleanup_(annotate_source_freep) struct annotate_source *source =
		annotate_source_new(&p->annotate);
	struct annotate_source_output to = { .sources = p->sources,
					     .heading = heading,
					     .out = stdout,
					     .directory = options.output_dir };
	size_t i;

	for (i = 0; i < p->annotate.image_count; i++) {
		struct annotate_view view;

		annotate_open(&p->annotate, i, p->profile->binaries, &view);
		annotate_source_add(source, &view);
		annotate_close(&view);
	}
	return annotate_source_print(source, &to, err);
}

static int show_json(struct parts *p, struct error *err)
{
	const struct profile *profile = p->profile;
	const struct annotate_json_output to = { .out = stdout, .sources = p->sources };

	annotate_json_print_all(&p->annotate, profile->gather, profile->binaries, &to);
	return tool_flush(stdout, NULL, err);
}

static void show_assembly(struct parts *p)
{
	struct annotate_asm_output to = { .out = stdout,
					  .options = options.disassembler,
					  .show_bytes = options.show_bytes,
					  .sources = options.source ? p->sources : NULL };
	size_t i;

	for (i = 0; i < p->annotate.image_count; i++) {
		struct annotate_view view;

		annotate_open(&p->annotate, i, p->profile->binaries, &view);
		annotate_asm_print(&p->annotate, &view, &to);
		annotate_close(&view);
	}
}

/* A description of what is shown, for the heading; caller frees. */
static char *meaning(void)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text, "Output annotated %s with samples",
		    options.assembly ? "assembly listing" : "source file");
	if (options.children)
		strbuf_adds(&text, "\nColumns: samples, and samples including what is called");
	if (options.config.threshold > 0)
		strbuf_addf(&text, "\nOutput %s where samples count reach %g%%",
			    options.assembly ? "symbols" : "files", options.config.threshold);
	else if (!options.assembly)
		strbuf_adds(&text, "\nOutput all files");
	return strbuf_take(&text);
}

static int annotate(int argc, char **argv, const char *command_line, struct error *err)
{
	_cleanup_(parts_done) struct parts p = { 0 };
	_cleanup_(strbuf_done) struct strbuf heading = STRBUF_INIT, comment = STRBUF_INIT;
	_cleanup_free_ char *means = meaning();
	int r = collect(&p,
			&(struct braces){
				.profile = options.profile, .words = argv, .count = (size_t)argc },
			err);

	if (r < 0)
		return r;
	if (options.top)
		annotate_top(&p.annotate, p.profile->binaries, options.top);
	if (options.json)
		return show_json(&p, err);
	annotate_heading(&p.annotate, &p.profile->losses, command_line, means, &heading);
	annotate_comment(strbuf_text(&heading), &comment);
	if (!options.output_dir)
		put(&comment);
	if (options.assembly)
		show_assembly(&p);
	else
		r = show_sources(&p, strbuf_text(&heading), err);
	if (r < 0)
		return r;
	strbuf_clear(&comment);
	annotate_rest_text(&p.annotate, &comment);
	put(&comment);
	return tool_flush(stdout, NULL, err);
}

/* --- two profiles --- */

static struct annotate_diff_side side_of(struct parts *p, const struct braces *in)
{
	return (struct annotate_diff_side){ .annotate = &p->annotate,
					    .gather = p->profile->gather,
					    .classes = &p->profile->classes,
					    .binaries = p->profile->binaries,
					    .sources = p->sources,
					    .losses = &p->profile->losses,
					    .words = in->text };
}

static int show_difference(const struct annotate_diff_side sides[2], const char *command_line,
			   struct error *err)
{
	const struct annotate_diff_config config = { .out = stdout,
						     .assembly = options.assembly,
						     .source = options.source,
						     .options = options.disassembler,
						     .show_bytes = options.show_bytes,
						     .top = options.top };
	_cleanup_(strbuf_done) struct strbuf heading = STRBUF_INIT, comment = STRBUF_INIT;
	_cleanup_(annotate_diff_freep) struct annotate_diff *d = NULL;
	_cleanup_free_ char *means = meaning();
	int r = annotate_diff_new(sides, &config, &d, err);

	if (r < 0)
		return r;
	if (options.json) {
		annotate_diff_json(d);
		return tool_flush(stdout, NULL, err);
	}
	annotate_diff_heading(d, command_line, means, &heading);
	annotate_comment(strbuf_text(&heading), &comment);
	put(&comment);
	annotate_diff_text(d);
	return tool_flush(stdout, NULL, err);
}

static int compare(const struct braces in[2], const char *command_line, struct error *err)
{
	_cleanup_(parts_done) struct parts a = { 0 }, b = { 0 };
	int r = collect(&a, &in[0], err);

	if (r == 0)
		r = collect(&b, &in[1], err);
	if (r < 0)
		return r;
	braces_warn_same(a.profile->gather, b.profile->gather);
	return show_difference((struct annotate_diff_side[]){ side_of(&a, &in[0]),
							      side_of(&b, &in[1]) },
			       command_line, err);
}

/* The words in two pairs of braces, if there are any. */
struct pair {
	struct spec_pair words;
	struct braces sides[2];
	bool is_given;
};

static void pair_done(struct pair *p)
{
	braces_done(&p->sides[0]);
	braces_done(&p->sides[1]);
	spec_pair_done(&p->words);
}

/* Parses what is in the braces. Returns 0 or -EINVAL. */
static int parse_pair(struct pair *p, char **argv, struct error *err)
{
	unsigned int i;

	if (options.output_dir || options.children)
		return error_set(err, -EINVAL, "%s cannot compare two profiles",
				 options.children ? "--children" : "--output-dir");
	options.profile.blocks = true;
	for (i = 0; i < 2; i++)
		reporting_tag_archives(p->words.count[i], argv + (p->words.words[i] - argv));
	return braces_parse_pair(&p->words, &options.profile, &cmdline, p->sides, err);
}

/* Reads the profile in a process without rights, if that is wanted, and shows it. */
static int run(struct pair *pair, int count, char **words, char **all, const char *line,
	       int *status, struct error *err)
{
	int r = pair->is_given
			? braces_become_owner(pair->sides, false, err)
			: reporting_become_owner(&options.profile, options.output_dir, all, err);

	if (r == 0)
		r = reporting_confine(&options.profile, options.output_dir, all, status, err);
	if (r != 0)
		return r;
	if (!pair->is_given)
		return annotate(count, words, line, err);
	braces_renew(&pair->sides[0], &options.profile);
	braces_renew(&pair->sides[1], &options.profile);
	return compare(pair->sides, line, err);
}

int main(int argc, char **argv)
{
	_cleanup_(strbuf_done) struct strbuf line = STRBUF_INIT;
	_cleanup_(pair_done) struct pair pair = { 0 };
	struct error err = ERROR_INIT, bad = ERROR_INIT;
	char **all = argv;
	int operands, status = 0, is_pair, i, r;

	strbuf_adds(&line, "opannotate");
	for (i = 1; i < argc; i++)
		strbuf_addf(&line, " %s", argv[i]);
	is_pair = spec_split(argv, (size_t)argc, &pair.words, &bad);
	pair.is_given = is_pair > 0;
	if (pair.is_given) {
		argv = pair.words.outside;
		argc = (int)pair.words.outside_count;
	}
	operands = tool_options(&cmdline, argc, argv);
	if (pair.is_given && operands < argc)
		is_pair = spec_bad_pair(&bad);
	if (is_pair < 0)
		return tool_usage("%s", bad.text);
	if (check_options(&err) < 0 || (pair.is_given && parse_pair(&pair, all, &err) < 0))
		return tool_usage("%s", err.text);
	if (!options.output_dir)
		screen_open(&options.screen, stdout);
	options.config.decimals = options.screen.decimals;
	options.config.width = options.screen.width;
	options.config.colour = options.screen.colour;
	if (!pair.is_given)
		reporting_tag_archives((size_t)(argc - operands), argv + operands);
	r = run(&pair, argc - operands, argv + operands, all, strbuf_text(&line), &status, &err);
	return r < 0 ? tool_fail(&err) : status;
}
