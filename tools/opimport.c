/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts sample files from another kind of machine to this machine's layout. */
#include "tools/common/confine.h"
#include "tools/common/reporting.h"
#include "tools/common/tool.h"

#include "base/mem.h"
#include "file/owner.h"
#include "file/path.h"
#include "sfile/abi.h"
#include "import/import.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static struct {
	const char *abi, *output, *session_dir;
	bool force, verbose;
} options;

static const struct opt opts[] = {
	{ 'a', "abi", OPT_PATH, &options.abi, "FILE",
	  "the description of the other machine (default: the file abi of INPUT's session)" },
	{ 'o', "output", OPT_PATH, &options.output, "FILE",
	  "where to write: a file, or a directory if INPUT is one (required)" },
	{ 0, "session-dir", OPT_PATH, &options.session_dir, "DIR",
	  "convert the session directory DIR, the same as INPUT" },
	{ 'f', "force", OPT_FLAG, &options.force, NULL,
	  "convert even if INPUT is from this kind of machine, and overwrite files" },
	{ 'V', "verbose", OPT_FLAG, &options.verbose, NULL, "report how much was converted" },
	CONFINE_OPTION,
	OPT_END
};

static const struct opt_cmdline cmdline = {
	.tool = "opimport",
	.usage = "[OPTION]... --output=FILE INPUT | --session-dir=DIR",
	.summary = "Convert a sample file or a session directory from a machine with another word "
		   "size or byte order.",
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
		return error_set(err, -EBADMSG, "%zu of %zu sample files could not be imported",
				 stats.bad, stats.bad + stats.files);
	if (options.verbose)
		printf("%zu sample files, %" PRIu64 " places, %" PRIu64
		       " samples; %zu other files\n",
		       stats.files, stats.nodes, stats.samples, stats.copied);
	return 0;
}

int main(int argc, char **argv)
{
	struct abi abi = { 0 };
	struct error err = ERROR_INIT;
	int r, status = 0, operands = tool_options(&cmdline, argc, argv);
	int inputs = argc - operands + (options.session_dir != NULL);
	const char *input = options.session_dir ?: argv[operands];

	if (inputs != 1)
		return tool_usage("%s",
				  inputs ? "more than one input is given" : "no input is given");
	if (!options.output)
		return tool_usage("--output=FILE is required");
	r = access(input, R_OK) < 0 ? error_errno(&err, -errno, "%s", input) : 0;
	/* What --abi names is read with the rights of whoever named it. */
	if (r == 0 && options.abi)
		r = read_abi(input, &abi, &err);
	if (r == 0)
		r = owner_become(input, OWNER_EXCEPT_OUTPUT, NULL, &err);
	if (r == 0)
		r = confine(input, &status, &err);
	if (r == 0)
		r = import(input, &abi, &err);
	return r < 0 ? tool_fail(&err) : status ?: tool_finish(0);
}
