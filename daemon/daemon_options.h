/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of oprofiled: the settings of daemonrc, overridden by those of the command line, and
 * the options that are not settings. Owns its strings.
 *
 *	_cleanup_(daemon_options_done) struct daemon_options options = { 0 };
 *	struct collector_config config;
 *	int r = daemon_options_load(argc, argv, &options, err);	exits for --help
 *	if (r == 0)
 *		daemon_options_collector(&options, &config);
 */
#pragma once

#include "base/error.h"
#include "control/settings.h"
#include "collect/collector.h"

#include <stdbool.h>
#include <stddef.h>

struct daemon_options {
	struct settings settings;
	struct event events[EVENT_MAX]; /* those of ->settings or --events, parsed */
	struct evderived derived;	/* of these, and of ->settings.ext_feature */
	size_t event_count;
	char *tee, *replay; /* absolute, or NULL */
	bool foreground, start, force, no_seccomp;
};

/* Reads command line and file into @ret, which is zeroed; 0 or -errno. */
int daemon_options_load(int argc, char **argv, struct daemon_options *ret, struct error *err);
/* Frees the strings. */
void daemon_options_done(struct daemon_options *options);

/* Sets the collector's configuration; borrows from @options. */
void daemon_options_collector(const struct daemon_options *options, struct collector_config *ret);
