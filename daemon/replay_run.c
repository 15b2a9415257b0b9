/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay_run.h"

#include "daemon_options.h"
#include "sfile/session.h"

#include <errno.h>

/* Samples of a stream are of one run. Added to those of another they would be counted twice, or as
 * that run's. */
static int refuse_other_run(const char *session_dir, struct error *err)
{
	if (!session_exists(session_dir, "current"))
		return 0;
	return error_set(err, -EEXIST,
			 "%s/samples/current: holds another profile; use another --session-dir, or "
			 "save it first: opcontrol --session-dir=%s --save=NAME",
			 session_dir, session_dir);
}

static bool is_saved(const struct collector *c)
{
	struct driver_stats driver;
	struct record_stats record;

	collector_stats(c, &driver, &record);
	return !record.lost_samplefile;
}

int replay_run(const struct daemon_options *options, struct error *err)
{
	_cleanup_(collector_freep) struct collector *collector = NULL;
	struct collector_config config;
	int r = refuse_other_run(options->settings.session_dir, err);

	daemon_options_collector(options, &config);
	if (r == 0)
		r = collector_new(&config, &collector, err);
	if (r == 0)
		r = collector_start(collector, err);
	while (r == 0)
		r = collector_sync(collector, false, err);
	if (r < 0)
		return r;
	r = collector_stop(collector, err);
	/* Nothing will come for which counts could wait. */
	if (r == 0)
		r = collector_reopen(collector, err);
	collector_print_stats(collector, stdout);
	if (r == 0 && (fflush(stdout) != 0 || ferror(stdout)))
		r = error_errno(err, -errno, "standard output");
	return r < 0 || is_saved(collector) ? r : REPLAY_UNSAVED;
}
