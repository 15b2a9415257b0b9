/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oparchive: puts a profile and everything that reports of it read into one directory. */
#include "tools/common/confine.h"
#include "tools/common/page_report.h"
#include "tools/common/page_sources.h"
#include "tools/common/reporting.h"
#include "tools/common/tool.h"

#include "base/log.h"
#include "base/macro.h"
#include "base/mem.h"
#include "base/text.h"
#include "file/owner.h"
#include "file/path.h"
#include "file/scratch.h"
#include "profile/archive/archive.h"
#include "profile/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Approximate bytes of a call graph file and its directories; of the history and the chains of a
 * part of a session. */
enum { SAMPLE_FILE_SIZE = 16 << 10, PART_SIZE = 64 << 20 };

static struct {
	bool list, exclude_dependent, compact, html;
	const char *output;
	struct profile_config profile;
} options = {
	.profile = { .calls = true, .chains = PROFILE_CHAINS_IF_ANY, .merge = CLASSES_MANY_AXES }
};

static const struct opt opts[] = {
	{ 'o', "output-directory", OPT_PATH, &options.output, "DIR",
	  "write the archive to DIR; with --compact to a file of that name" },
	{ 'c', "compact", OPT_FLAG, &options.compact, NULL,
	  "write one compressed file, with only the parts of images that the profile uses" },
	{ 0, "html", OPT_FLAG, &options.html, NULL,
	  "also write a page for a browser next to the archive: DIR.html" },
	{ 'l', "list-files", OPT_FLAG, &options.list, NULL,
	  "write nothing; list the files of the archive" },
	{ 'x', "exclude-dependent", OPT_FLAG, &options.exclude_dependent, NULL,
	  "only samples in the applications' own images, and only those images" },
	{ 0, "session-dir", OPT_PATH, &options.profile.session_dir, "DIR",
	  "the session directory (default: ./oprofile_data, else /var/lib/oprofile)" },
	{ 'p', "image-path", OPT_STRING, &options.profile.binaries.image_paths, "DIR,...",
	  "look for images, modules and debug files in these directories too" },
	{ 'R', "root", OPT_STRING, &options.profile.binaries.root, "DIR", "images are below DIR" },
	REPORTING_MAX_SIZE(options.profile),
	CONFINE_OPTION,
	TOOL_VERBOSE_OPTION,
	OPT_END
};

static const struct opt_cmdline cmdline = {
	.tool = "oparchive",
	.usage = "[OPTION]... --output-directory=DIR [SPECIFICATION]...",
	.summary = "Put a profile, its binaries, debug files and kernel symbols into one directory "
		   "or file, from which any machine can report.",
	.epilog = "A specification narrows the archive as it narrows a report: see opreport(1). "
		  "Reports of the archive: opreport archive:DIR or archive:FILE.",
	.opts = opts,
};

static void print_list(const struct archive *a)
{
	bool terminal = isatty(STDOUT_FILENO);
	size_t i;

	/* Programs get the names as they are; for a terminal, control characters are made
	 * visible. */
	for (i = 0; i < a->count; i++) {
		_cleanup_(strbuf_done) struct strbuf name = STRBUF_INIT;

		text_visible(&name, a->files[i].from);
		puts(terminal ? strbuf_text(&name) : a->files[i].from);
	}
	if (a->live_kernel)
		puts("/proc/kallsyms");
}

static int check_output(struct error *err)
{
	_cleanup_free_ char *plain = options.output ? xrealpath(options.output) : NULL;

	if (plain && !strcmp(plain, "/"))
		return error_set(err, -EINVAL, "--output-directory=/ would overwrite this system");
	/* To plan an archive may take long. */
	return options.list ? 0 : archive_check_output(options.output, options.compact, err);
}

/* Returns whether the specification selects only a part of the samples. */
static bool narrows(const struct spec *spec)
{
	size_t i;

	for (i = 0; i < SPEC_TAG_COUNT_; i++)
		if (spec->of[i].count && i != SPEC_ARCHIVE && i != SPEC_SESSION &&
		    i != SPEC_SESSION_EXCLUDE)
			return true;
	return false;
}

/* Creates a directory for files that are derived: from counts of the history and of idle/, call
 * graph files from chains, which a whole compact archive has instead, and those of a part of a
 * session. *@ret is NULL if there are none. */
static int make_room(const struct gather *g, const struct archive_config *config,
		     struct scratch **ret, struct error *err)
{
	bool only_chains = options.compact && config->chained;
	size_t i, n = 0;

	for (i = 0; i < g->file_count; i++)
		n += g->files[i].past || (g->files[i].arcs && !only_chains);
	if (options.list)
		n = 0;
	if (n == 0 && !config->narrowed)
		return 0;
	n = n * SAMPLE_FILE_SIZE + (config->narrowed ? PART_SIZE : 0);
	return options.profile.scratch_dir
		       ? scratch_below(options.profile.scratch_dir, "oparchive", ret, err)
		       : scratch_new("oparchive", n, ret, err);
}

/* --- the page --- */

/* The file next to the archive, while it is written. */
static struct {
	char *name;
	FILE *file;
} page_file;

/* Opens the page's file, which must not exist, before this process is confined. */
static int open_page(struct error *err)
{
	size_t length = strlen(options.output);
	int fd;

	while (length > 1 && options.output[length - 1] == '/')
		length--;
	page_file.name = xasprintf("%.*s.html", (int)length, options.output);
	fd = open(page_file.name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	page_file.file = fd >= 0 ? fdopen(fd, "w") : NULL;
	return page_file.file ? 0 : error_errno(err, -errno, "%s", page_file.name);
}

/* Removes the page unless it is complete; returns @status. */
static int finish_page(int status)
{
	if (status && page_file.file) {
		(void)owner_pause();
		(void)unlink(page_file.name);
	}
	free(page_file.name);
	return status;
}

/* Whether reports of the archive do not need the word: it is another archive that was read, or the
 * window of time, which is all that the new archive has. */
static bool is_done_by_archive(const char *word)
{
	static const char *const tags[] = { "archive:", "time:" };
	size_t i = 0;

	while (i < ARRAY_SIZE(tags) && strncmp(word, tags[i], strlen(tags[i])) != 0)
		i++;
	return i < ARRAY_SIZE(tags);
}

/* The words with which reports of the archive show the same as the page; caller frees. */
static char *words_of_archive(const struct page_words *given)
{
	_cleanup_free_ char **words = xcalloc(given->count + 1, sizeof(*words));
	_cleanup_free_ char *name = xstrdup(path_base(page_file.name)), *own = NULL;
	size_t i, n = 0;

	name[strlen(name) - strlen(".html")] = '\0';
	own = xasprintf("archive:%s", name);
	words[n++] = own;
	for (i = 0; i < given->count; i++)
		if (!is_done_by_archive(given->list[i]))
			words[n++] = given->list[i];
	return reporting_shell_words(n, words);
}

static int write_page(const struct page_words *words, struct error *err)
{
	_cleanup_(page_sources_done) struct page_sources sources = { 0 };
	_cleanup_(page_report_done) struct page_report page = { 0 };
	_cleanup_free_ char *shown = words_of_archive(words);
	const struct report_option given[] = { { "specification", shown }, { NULL, NULL } };
	struct report_view view = {
		.form = REPORT_HTML,
		.rows = { .symbols = true },
		.options = given,
	};
	struct profile_config config = options.profile;
	struct error why = ERROR_INIT;
	int r;

	config.calls = false;
	config.chains = PROFILE_NO_CHAINS;
	config.merge = 0;
	r = page_report_collect(&config, &view, words->count, words->list, &page, err);
	if (r < 0)
		return r;
	if (page_sources_collect(&config, words, &page, &sources, &why) < 0)
		tool_warn("%s; the page has no sources", why.text);
	profile_report_print(&page.report, page_file.file);
	return tool_flush(page_file.file, page_file.name, err);
}

/* --- the archive --- */

static int archive(int argc, char **argv, struct error *err)
{
	_cleanup_(scratch_freep) struct scratch *made = NULL;
	_cleanup_(profile_closep) struct profile *p = NULL;
	_cleanup_(archive_done) struct archive a = { 0 };
	_cleanup_free_ bool *chained = NULL;
	struct archive_config config = { .exclude_dependent = options.exclude_dependent,
					 .compact = options.compact,
					 .is_list = options.list };
	int r;

	options.profile.binaries.code = options.compact;
	r = reporting_open(&options.profile, (size_t)argc, argv, &p, err);
	if (r < 0)
		return r;
	if (p->gather->has_archives)
		return error_set(err, -EINVAL,
				 "an archive is of one host; reports add up several: opreport "
				 "archive:FIRST,SECOND");
	config.root = p->root;
	if (options.exclude_dependent || narrows(&p->spec))
		config.narrowed = &p->spec;
	else
		config.chained = chained = chains_images(&p->chains);
	r = make_room(p->gather, &config, &made, err);
	if (r < 0)
		return r;
	config.made = made ? scratch_path(made) : NULL;
	archive_plan(p->gather, p->binaries, &config, &a);
	if (a.left_out > ARCHIVE_WARNINGS_MAX)
		log_warn("%zu more files are gone, or are not those that were profiled; skipped",
			 a.left_out - ARCHIVE_WARNINGS_MAX);
	if (!options.list)
		return options.compact ? archive_write_compact(&a, p->gather, p->binaries,
							       options.output, err)
				       : archive_write(&a, options.output, err);
	print_list(&a);
	return gather_check_there(p->gather, err);
}

static int run(int count, char **words, struct error *err)
{
	const struct page_words given = { (size_t)count, words };
	int r = archive(count, words, err);

	return r == 0 && options.html ? write_page(&given, err) : r;
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	int operands = tool_options(&cmdline, argc, argv), status = 0, r;
	_cleanup_free_ char *parent = NULL;
	const char *directory;
	mode_t mask;

	if (options.list && options.html)
		return tool_usage("--html and --list-files cannot be combined");
	if (options.exclude_dependent && options.html)
		return tool_usage("--html and --exclude-dependent cannot be combined: a page has "
				  "all samples");
	if (!options.list && !options.output)
		return tool_usage("--output-directory=DIR or --list-files is required");
	reporting_tag_archives((size_t)(argc - operands), argv + operands);
	r = check_output(&err);
	if (r == 0 && options.html)
		r = open_page(&err);
	directory = options.list ? NULL : options.output;
	if (directory && options.compact)
		directory = parent = reporting_parent(directory);
	if (r == 0)
		r = reporting_become_owner(&options.profile, directory, argv, &err);
	mask = umask(077); /* nobody else may look into the archive */
	if (r == 0)
		r = reporting_confine(&options.profile, directory, NULL, &status, &err);
	(void)umask(mask);
	if (r == 0)
		r = run(argc - operands, argv + operands, &err);
	return finish_page(r < 0 ? tool_fail(&err) : status ?: tool_finish(0));
}
