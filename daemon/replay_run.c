/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay_run.h"

#include "daemon_options.h"

#include <errno.h>

int replay_run(const struct daemon_options *options, struct error *err)
{
	_cleanup_(collector_freep) struct collector *collector = NULL;
	struct collector_config config;
	int r;

	daemon_options_collector(options, &config);
	r = collector_new(&config, &collector, err);
	if (r == 0)
		r = collector_start(collector, err);
	while (r == 0)
		r = collector_sync(collector, false, err);
	if (r < 0)
		return r;
	r = collector_stop(collector, err);
	collector_print_stats(collector, stdout);
	if (r == 0 && (fflush(stdout) != 0 || ferror(stdout)))
		r = error_errno(err, -errno, "standard output");
	return r;
}
