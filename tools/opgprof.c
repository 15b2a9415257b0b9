/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opgprof: the profile of one program as a gmon.out for gprof. */
#include "tools/common/confine.h"
#include "tools/common/reporting.h"
#include "tools/common/tool.h"

#include "base/mem.h"
#include "base/text.h"
#include "file/open_regular.h"
#include "file/owner.h"
#include "file/path.h"
#include "profile/gprof/gmon.h"
#include "profile/gprof/gprof.h"
#include "profile/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
	double threshold;
	const char *output;
	struct profile_config profile;
} options = { .output = "gmon.out", .profile = { .calls = true, .merge = CLASSES_MANY_AXES } };

static const struct opt opts[] = {
	{ 'o', "output-filename", OPT_STRING, &options.output, "FILE", "default: gmon.out" },
	{ 't', "threshold", OPT_CALL, &options.threshold, "PERCENT",
	  "leave functions below this share of the program out", reporting_set_threshold },
	{ 0, "session-dir", OPT_PATH, &options.profile.session_dir, "DIR",
	  "the session directory (default: ./oprofile_data, else /var/lib/oprofile)" },
	{ 'p', "image-path", OPT_STRING, &options.profile.binaries.image_paths, "DIR,...",
	  "look for the program and its debug file in these directories too" },
	{ 'R', "root", OPT_STRING, &options.profile.binaries.root, "DIR",
	  "the program is below DIR" },
	REPORTING_MAX_SIZE(options.profile),
	CONFINE_OPTION,
	TOOL_VERBOSE_OPTION,
	OPT_END
};

static const struct opt_cmdline cmdline = {
	.tool = "opgprof",
	.usage = "[OPTION]... [SPECIFICATION]... [IMAGE]",
	.summary = "Write the profile of one program, with its call arcs if they were recorded, as "
		   "a file for gprof(1).",
	.epilog = "Then: gprof IMAGE gmon.out. The specification must leave one program and one "
		  "event: see opreport(1).",
	.opts = opts,
};

static int write_gmon(struct gmon *gmon, struct error *err)
{
	_cleanup_(owner_resume) _unused_ struct owner_pause as_root = owner_pause();
	_cleanup_free_ char *temporary = xasprintf("%s.%d.tmp", options.output, (int)getpid());
	int r = 0, fd = open_regular_new(temporary, O_WRONLY, 0666);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out)
		return error_errno(err, fd < 0 ? fd : -errno, "cannot write %s", options.output);
	gmon_write(gmon, out);
	if (ferror(out))
		r = -EIO;
	/* Without a sync: it can be made again from the session. */
	if (fclose(out) != 0)
		r = -errno;
	r = path_put(temporary, options.output, 0, r);
	return r < 0 ? error_errno(err, r, "cannot write %s", options.output) : 0;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Warns of samples that are left out, and why. */
static void warn_samples(const struct gprof_stats *s, uint64_t count, const char *why)
{
	_cleanup_free_ char *all = text_count(s->samples, "sample");

	if (count)
		tool_warn("left out: %" PRIu64 " of %s (%.3g %%), %s", count, all,
			  share(count, s->samples), why);
}

/* Warns about what the file does not contain. */
static void warn_losses(const struct gprof_stats *s, const struct gmon *gmon)
{
	_cleanup_free_ char *calls = text_count(s->arcs, "call");
	_cleanup_free_ char *capped = text_count(gmon->capped, "sample");
	_cleanup_free_ char *ignored =
		xasprintf("in functions whose names gprof ignores, such as %s", s->example);

	warn_samples(s, s->outside,
		     "in no function that gprof knows (PLT entries, code between symbols)");
	warn_samples(s, s->unknown, ignored);
	warn_samples(s, s->below, "in functions below the threshold");
	if (s->lost)
		tool_warn("left out: %" PRIu64 " of %s, from or to what gprof does not know",
			  s->lost, calls);
	if (gmon->capped)
		tool_warn("left out: %s above what gmon.out can hold at one address", capped);
}

static int convert(int argc, char **argv, struct error *err)
{
	_cleanup_(profile_closep) struct profile *p = NULL;
	_cleanup_(gmon_done) struct gmon gmon = { 0 };
	struct gprof_stats stats;
	int r = reporting_open(&options.profile, (size_t)argc, argv, &p, err);

	if (r == 0)
		r = gprof_collect(p->gather, p->binaries, options.threshold, &gmon, &stats, err);
	if (r == 0)
		r = gather_check_there(p->gather, err);
	if (r == 0)
		r = write_gmon(&gmon, err);
	if (r == 0)
		warn_losses(&stats, &gmon);
	return r;
}

int main(int argc, char **argv)
{
	struct error err = ERROR_INIT;
	int operands = tool_options(&cmdline, argc, argv), status = 0, r;
	_cleanup_free_ char *directory = reporting_parent(options.output);

	reporting_tag_archives((size_t)(argc - operands), argv + operands);
	r = reporting_become_owner(&options.profile, true, argv, &err);
	if (r == 0)
		r = reporting_confine(&options.profile, directory, argv, &status, &err);
	if (r == 0)
		r = convert(argc - operands, argv + operands, &err);
	return r < 0 ? tool_fail(&err) : status;
}
