/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oprofiled as a process: is it there, start it, end it. */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* Whether a daemon answers for the session. */
bool daemon_runs(const char *session_dir);

/* Starts oprofiled, from beside this program or $PATH ($OPROFILED where set), with the settings in
 * @config (NULL: none stored); returns when it is up. Nothing to do where one runs. What goes wrong
 * the daemon itself has said on stderr; 0 or -errno. */
int daemon_start(const char *session_dir, const char *config, struct error *err);

/* Ends it and waits until the session is free; says where there is none, which is no error. 0 or
 * -errno. */
int daemon_end(const char *session_dir, struct error *err);
