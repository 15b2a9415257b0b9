/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where optop's samples come from: the daemon that samples into a session directory or, if there is
 * none, a process of our own that samples the whole machine into a temporary session.
 *
 *	struct feed *feed;
 *	if (feed_open(session_dir, hz, &feed, err) == 0 && feed_update(feed, err) == 0)
 *		...the session in feed_session_dir(feed) has all samples until now
 *	feed_close(feed);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"

#include <stdbool.h>
#include <stdint.h>

struct feed;

/* Uses the daemon of @session_dir (NULL: the system's). If there is none, and that directory is
 * there or was not given, root samples all CPUs @hz times a second into a session of its own. 0,
 * and the caller calls feed_close(); or -errno. */
int feed_open(const char *session_dir, uint64_t hz, struct feed **ret, struct error *err);
/* Ends the sampling of our own, and removes its session; NULL is fine. */
void feed_close(struct feed *f);
DEFINE_CLEANUP(struct feed *, feed_close);

/* The directory of the session; borrowed. */
const char *feed_session_dir(const struct feed *f);
/* Whether we sample ourselves. */
bool feed_is_own(const struct feed *f);
/* The CPU time that our own sampling took so far, in seconds; 0 if we do not sample. */
double feed_own_seconds(const struct feed *f);
/* Has all samples until now recorded, and waits for that. May be called in a child process. 0, or
 * -errno. */
int feed_update(const struct feed *f, struct error *err);
