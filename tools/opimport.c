/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts sample files from another kind of machine to this machine's layout, and perf.data files
 * to sessions. */
#include "tools/common/confine.h"
#include "tools/common/reporting.h"
#include "tools/common/tool.h"

#include "base/mem.h"
#include "base/text.h"
#include "file/owner.h"
#include "file/path.h"
#include "file/scratch.h"
#include "sfile/abi.h"
#include "import/import.h"
#include "perfdata/perf_import.h"
#include "record/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static struct {
	const char *abi, *output, *session_dir;
	unsigned int separate;
	bool force, verbose;
} options;

static int set_separate(const char *arg, void *target _unused_, struct error *err)
{
	int bits = record_separate_parse(arg);

	if (bits < 0 || bits & RECORD_SEPARATE_CGROUP)
		return error_set(err, -EINVAL, "'%s' is not a list of thread, cpu, comm", arg);
	options.separate = (unsigned int)bits;
	return 0;
}

static const struct opt opts[] = {
	{ 'a', "abi", OPT_PATH, &options.abi, "FILE",
	  "the description of the other machine (default: the file abi of INPUT's session)" },
	{ 'o', "output", OPT_PATH, &options.output, "FILE",
	  "where to write: a file, or a directory if INPUT is one (required; of a perf.data the "
	  "session directory, default: ./oprofile_data)" },
	{ 0, "session-dir", OPT_PATH, &options.session_dir, "DIR",
	  "convert the session directory DIR, the same as INPUT" },
	{ 0, "separate", OPT_CALL, NULL, "LIST",
	  "separate the samples of a perf.data by thread, cpu or comm, the name of the thread",
	  set_separate },
	{ 'f', "force", OPT_FLAG, &options.force, NULL,
	  "convert even if INPUT is from this kind of machine, and overwrite files" },
	{ 'V', "verbose", OPT_FLAG, &options.verbose, NULL, "report how much was converted" },
	CONFINE_OPTION,
	OPT_END
};

static const struct opt_cmdline cmdline = {
	.tool = "opimport",
	.usage = "[OPTION]... PERF.DATA | --output=FILE INPUT | --session-dir=DIR",
	.summary = "Make a profile of a perf.data file; or convert a sample file or a session "
		   "directory from a machine with another word size or byte order.",
	.epilog = "INPUT is a sample file, or a session directory (with abi and samples/). "
		  "See opimport(1).",
	.opts = opts,
};

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Returns the file abi of @input if it is a session directory, otherwise of the session directory
 * that contains it. Caller frees; NULL if there is none. */
static char *find_abi(const char *input)
{
	_cleanup_free_ char *directory = path_absolute(input);
	_cleanup_free_ char *samples = path_join(directory, "samples");
	bool in_samples = is_directory(samples);
	char *slash;

	while (*directory) {
		_cleanup_free_ char *abi = path_join(directory, "abi");

		if (in_samples && access(abi, F_OK) == 0)
			return STEAL(abi);
		slash = strrchr(directory, '/');
		in_samples = !strcmp(slash, "/samples");
		*slash = '\0';
	}
	return NULL;
}

static int read_abi(const char *input, struct abi *ret, struct error *err)
{
	_cleanup_free_ char *path = options.abi ? xstrdup(options.abi) : find_abi(input);
	int r;

	if (!path)
		return error_set(err, -ENOENT,
				 "%s: no description of its machine was found; give one with "
				 "--abi=FILE",
				 input);
	r = abi_read(path, ret, err);
	if (r < 0 || !abi_equal(ret, abi_native()) || options.force)
		return r;
	return error_set(err, -EINVAL,
			 "%s: describes this kind of machine, so there is nothing to convert; "
			 "use --force to convert anyway",
			 path);
}

/* Continues in a child process that can write the output only; 1 in the parent, with the status to
 * exit with in *@ret. */
static int confine(const char *input, int *ret, struct error *err)
{
	bool is_session = is_directory(input);
	_cleanup_free_ char *parent = is_session ? NULL : reporting_parent(options.output);
	struct confine c = { .writable = { is_session ? options.output : parent } };
	int r = confine_enter(&c, err);

	*ret = c.status;
	return r;
}

/* Imports with the rights that this process has by now. */
static int import(const char *input, const struct abi *given, struct error *err)
{
	struct import_stats stats = { 0 };
	struct abi abi = *given;
	int r = options.abi ? 0 : read_abi(input, &abi, err);

	if (r < 0)
		return r;
	if (is_directory(input))
		r = import_session(input, &abi, options.output, options.force, &stats, err);
	else
		r = import_file(input, &abi, options.output, options.force, &stats, err);
	if (r < 0)
		return r;
	if (stats.bad)
		return error_set(err, -EBADMSG, "%zu of %zu sample file%s could not be imported",
				 stats.bad, stats.bad + stats.files,
				 text_plural(stats.bad + stats.files));
	if (options.verbose)
		printf("%zu sample file%s, %" PRIu64 " place%s, %" PRIu64
		       " sample%s; %zu other file%s\n",
		       stats.files, text_plural(stats.files), stats.nodes, text_plural(stats.nodes),
		       stats.samples, text_plural(stats.samples), stats.copied,
		       text_plural(stats.copied));
	return 0;
}

/* --- perf.data --- */

/* Imports a perf.data with the rights that this process has by now. */
static int import_perf(const char *input, const char *scratch, struct error *err)
{
	const char *home = getenv("HOME");
	_cleanup_free_ char *cache = home ? path_join(home, ".debug") : NULL;
	struct perf_import_config config = { .session_dir = options.output,
					     .cache = cache,
					     .scratch = scratch,
					     .separate = RECORD_SEPARATE_LIB |
							 RECORD_SEPARATE_KERNEL | options.separate,
					     .force = options.force };
	struct perf_import_stats stats;
	int r = perf_import(input, &config, &stats, err);

	if (r < 0)
		return r;
	(void)fprintf(stderr,
		      "opimport: %" PRIu64 " of %" PRIu64 " sample%s imported, %" PRIu64
		      " lost by perf\n",
		      stats.recorded, stats.received, text_plural(stats.received), stats.lost);
	(void)fprintf(stderr, "opimport: see them with: opreport --session-dir=%s -l\n",
		      options.output);
	return 0;
}

/* Makes what the child writes to as root: the session directory and a scratch directory. */
static int make_directories(struct scratch **ret, struct error *err)
{
	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();
	int r = path_make_dirs(options.output, 0755, err);

	return r < 0 ? r : scratch_new("opimport", 1 << 24, ret, err);
}

/* Imports in a child process that can write the session only; 0 or -errno, with the status to exit
 * with in *@ret. */
static int run_perf(const char *input, int *ret, struct error *err)
{
	struct scratch *scratch = NULL;
	struct confine c = { .writable = { options.output } };
	int r = make_directories(&scratch, err);
	bool is_child;

	if (r < 0)
		return r;
	c.writable[1] = scratch_path(scratch);
	r = confine_enter(&c, err);
	*ret = c.status;
	is_child = r == 0 && confine_is_wanted();
	if (r == 0)
		r = import_perf(input, scratch_path(scratch), err);
	if (is_child) /* The parent removes it. */
		scratch_forget(scratch);
	else
		scratch_free(scratch);
	return MIN(r, 0);
}

/* Converts what another machine's oprofile has written. */
static int run_foreign(const char *input, const struct abi *abi, int *ret, struct error *err)
{
	int r = confine(input, ret, err);

	return r == 0 ? import(input, abi, err) : MIN(r, 0);
}

/* Does what the command line asks for; 0 or -errno, or in the parent of a confined process 0, with
 * the status to exit with in *@ret. */
static int run(const char *input, bool is_perf, int *ret, struct error *err)
{
	struct abi abi = { 0 };
	int r = access(input, R_OK) < 0 ? error_errno(err, -errno, "%s", input) : 0;

	/* What --abi names is read with the rights of whoever named it. */
	if (r == 0 && options.abi)
		r = read_abi(input, &abi, err);
	if (r == 0)
		r = owner_become(input, OWNER_EXCEPT_OUTPUT, NULL, err);
	if (r < 0)
		return r;
	return is_perf ? run_perf(input, ret, err) : run_foreign(input, &abi, ret, err);
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	int r, status = 0, operands = tool_options(&cmdline, argc, argv);
	int inputs = argc - operands + (options.session_dir != NULL);
	const char *input = options.session_dir ?: argv[operands];
	bool is_perf;

	if (inputs != 1)
		return tool_usage("%s",
				  inputs ? "more than one input is given" : "no input is given");
	is_perf = perf_import_is(input);
	if (!options.output && !is_perf)
		return tool_usage("--output=FILE is required");
	if (!options.output)
		options.output = "oprofile_data";
	r = run(input, is_perf, &status, &err);
	return r < 0 ? tool_fail(&err) : status ?: tool_finish(0);
}
