/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes sample files out of a session that were not used for long, so that it does not grow with
 * the programs that ran once (sfile/idle.h). Each step is one file that is renamed or removed, so
 * it may be interrupted anywhere and done again. Whoever records the session must have closed its
 * sample files before, but may go on recording: what it opens meanwhile is moved, not merged.
 *
 *	idle_files_merge(samples, NULL, &log);	what was moved the last time
 *	idle_files_move(samples, until_s, &log);	and not written since
 */
#pragma once

#include <stdint.h>

struct history_functions;
struct strbuf;

/* Adds up the counts of all batches that fit in the segment, and removes those that were in it
 * before, if it can be read. Rare offsets are folded into their @functions, unless that is NULL.
 * Damaged files are moved to IDLE_DAMAGED. Adds what failed to @log. */
void idle_files_merge(const char *samples, const struct history_functions *functions,
		      struct strbuf *log);
/* Moves the sample files that were written last before @until_s, since 1970, to a new batch, or to
 * several if they are many. Those of call graphs stay. Adds what failed to @log. */
void idle_files_move(const char *samples, int64_t until_s, struct strbuf *log);
