/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process of its own for the upkeep of sessions, which takes seconds and memory now and then. It
 * has the lowest priority, no capabilities, and at most a quarter of a CPU. It may be killed at any
 * time: then it is started again, a few times an hour, and what it did not finish is done the next
 * time.
 *
 *	keeper_new(session_upkeep, &k, err);	before there are threads and a list of system calls
 *	keeper_ask(k, samples, &how);
 *	...
 *	if (keeper_take(k, &text))	a while later
 *		log_info("%s", strbuf_text(&text));
 *	keeper_free(k);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "history/upkeep.h"

#include <stdbool.h>

struct keeper;
struct strbuf;

/* Does the upkeep of the session at @samples; adds what a person should know to @log. 0, or -errno
 * if it is to be tried again. */
typedef int keeper_work(const char *samples, const struct upkeep *how, struct strbuf *log);

/* Starts the process, which will do @work. 0, the caller frees; or -errno. */
int keeper_new(keeper_work *work, struct keeper **ret, struct error *err);
/* Ends the process, whatever it is doing. NULL is fine. */
void keeper_free(struct keeper *k);
DEFINE_CLEANUP(struct keeper *, keeper_free);

/* Lets it do the upkeep of the session at @samples, now. False if it cannot, such as while it is
 * busy: what is due then is due the next time. Never waits. */
bool keeper_ask(struct keeper *k, const char *samples, const struct upkeep *how);
/* Whether it is doing the upkeep of a session, or keeper_take() was not called after it. */
bool keeper_is_busy(const struct keeper *k);
/* Whether the process has ended, so that nothing can be asked any more. */
bool keeper_is_gone(const struct keeper *k);
/* Has work killed that takes longer; an hour by default. */
void keeper_limit(struct keeper *k, int limit_ms);
/* Whether the last work failed, some minutes ago, and should be tried again. */
bool keeper_retries(const struct keeper *k);
/* Adds to @out what is wrong with the upkeep: that it failed, takes long, or cannot be done any
 * more. Nothing is added if all is well. */
void keeper_trouble(const struct keeper *k, struct strbuf *out);
/* Whether the upkeep has ended; then @text gets the lines that a person should know, if any. Never
 * waits. */
bool keeper_take(struct keeper *k, struct strbuf *text);
