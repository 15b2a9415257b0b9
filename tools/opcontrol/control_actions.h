/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The actions of opcontrol as a table: each runs on one context.
 *
 *	r = control_actions[ACTION_DUMP].run(context, NULL, err);
 */
#pragma once

#include "base/error.h"
#include "control/settings.h"

#include <stdbool.h>

/* The context of actions. The caller owns the strings. */
struct control_context {
	struct settings settings;
	char *rc_path;	   /* absolute; need not exist */
	char *session_dir; /* absolute */
	bool json;	   /* show as JSON */
};

enum action_id {
	ACTION_SETUP,
	ACTION_INIT,
	ACTION_START_DAEMON,
	ACTION_START,
	ACTION_STOP,
	ACTION_DUMP,
	ACTION_RESET,
	ACTION_SAVE,
	ACTION_LIST_SESSIONS,
	ACTION_DELETE,
	ACTION_HISTORY,
	ACTION_STATUS,
	ACTION_SHUTDOWN,
	ACTION_LIST_EVENTS,
	ACTION_CHECK,
	ACTION_MOUNT,
	ACTION_UMOUNT,
	ACTION_DEINIT,
	ACTION_COUNT_
};

struct control_action {
	/* Runs the action; @arg is the option's argument or NULL. Output goes to stdout. Returns 0
	 * or -errno. */
	int (*run)(const struct control_context *context, const char *arg, struct error *err);
	bool stores;	/* a --session-dir given with it is stored */
	bool tolerates; /* works even if lines of daemonrc are bad */
	bool commits; /* refused after a failed setup: it would sample or change another session */
};

extern const struct control_action control_actions[ACTION_COUNT_];
