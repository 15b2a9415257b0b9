/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps a session that is recorded for months as small as what it shows: the work of the keeper
 * (history/keeper.h). Each step may be interrupted anywhere.
 *
 *	keeper_new(session_upkeep, &keeper, err);
 */
#pragma once

struct strbuf;
struct upkeep;

/* Rolls up the history of the session at @samples (history/upkeep.h). Then, unless ->idle_ms is 0,
 * lists the images that nothing refers to any more (sfile/manifest_unused.h), and removes code that
 * processes made at run time (TGID.jo) if it was not written for ->idle_ms, the process has ended,
 * and nothing refers to it; or if it is much, the oldest first. Adds a line to @log for whatever a
 * person should know. 0, or -errno if something that is due could not be done. */
int session_upkeep(const char *samples, const struct upkeep *how, struct strbuf *log);
