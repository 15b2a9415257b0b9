/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts and ends oprofiled, and runs other programs of ours. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether a daemon answers for the session. */
bool daemon_runs(const char *session_dir);

/* Starts oprofiled with the settings in @config (NULL: none stored) unless one runs; returns when
 * it is up. The program is $OPROFILED, or that next to this one, or in $PATH. 0 or -errno: the
 * daemon has printed the reason on stderr. */
int daemon_start(const char *session_dir, const char *config, struct error *err);

/* What it means for --stop and --shutdown that no daemon answers: prints that none is running, and
 * returns 0; -EBUSY if something else writes to the session. */
int daemon_absent(const char *session_dir, struct error *err);

/* Ends it and waits until the session is free. If none runs, prints that, which is no error. 0 or
 * -errno. */
int daemon_end(const char *session_dir, struct error *err);

/* The path of a program of ours: the value of the environment's @variable, else the first of
 * @places that exists, relative to this program's directory, in an installation or a build tree;
 * else the bare name, to be found in $PATH. Caller frees. */
char *daemon_find_program(const char *variable, const char *const *places, size_t count);
/* Runs a program until it ends or goes into the background; 0, or -EIO if it failed: it has printed
 * the reason itself. */
int daemon_spawn(const char *program, char **argv, struct error *err);
