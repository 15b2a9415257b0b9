/* SPDX-License-Identifier: GPL-2.0-or-later */
/* oprofiled and its kin as processes: are they there, start them, end them. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether a daemon answers for the session. */
bool daemon_runs(const char *session_dir);

/* Starts oprofiled, from beside this program or $PATH ($OPROFILED where set), with the settings in
 * @config (NULL: none stored); returns when it is up. Nothing to do where one runs. What goes wrong
 * the daemon itself has said on stderr; 0 or -errno. */
int daemon_start(const char *session_dir, const char *config, struct error *err);

/* Ends it and waits until the session is free; says where there is none, which is no error. 0 or
 * -errno. */
int daemon_end(const char *session_dir, struct error *err);

/* Where a program of ours lies: where the environment's @variable says, else the first of @places
 * that is there, relative to the directory of this one, which are those of an installation and of a
 * build tree; else, for $PATH, the mere name. Caller frees. */
char *daemon_find_program(const char *variable, const char *const *places, size_t count);
/* Runs a program until it ends or has gone into the background; 0, or -EIO where it failed, which
 * it has said itself. */
int daemon_spawn(const char *program, char **argv, struct error *err);
