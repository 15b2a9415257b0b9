/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What oprofiled is to do: its command line laid over daemonrc. The strings live in the struct's
 * daemonrc and in argv.
 *
 *	struct settings settings = SETTINGS_INIT;
 *	settings_load(argc, argv, &settings, err);	exits for --help and bad options
 *	settings_collector(&settings, &config);
 *	settings_done(&settings);
 */
#pragma once

#include "base/error.h"
#include "base/log.h"
#include "control/daemonrc.h"
#include "control/limits.h"
#include "record/collector.h"

#include <sys/types.h>

enum { SETTINGS_TIMER_HZ = 199 }; /* a prime: in step with nothing that beats the clock's time */

struct settings {
	struct daemonrc rc; /* ->session_dir is set and absolute */
	struct event events[EVENT_MAX];
	size_t event_count;
	unsigned int separate; /* enum record_separate */
	enum driver_chain_mode chain_mode;
	size_t unwind_bytes;		   /* 0: not given */
	uint64_t kernel_start, kernel_end; /* 0: not given */
	char *tee, *replay;		   /* absolute, or NULL */
	bool foreground, start, force, no_seccomp;
	mode_t session_mode;
	enum log_level verbose;
	struct limits limits;
};

#define SETTINGS_INIT ((struct settings){ .rc = DAEMONRC_INIT })

/* Reads command line and file; 0 or -errno. */
int settings_load(int argc, char **argv, struct settings *ret, struct error *err);
/* Frees what it holds. */
void settings_done(struct settings *settings);

/* The collector that is wanted; borrows from @settings. */
void settings_collector(const struct settings *settings, struct collector_config *ret);
/* What is separated, in words: "library,thread"; caller frees. */
char *settings_separate(const struct settings *settings);
