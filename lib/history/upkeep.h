/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps a history small: rolls up what is complete to coarser levels, and deletes what is too old
 * or too much. Each step is one file that is renamed into place, or removed, so it may be
 * interrupted anywhere and done again (man ophistory.5).
 *
 *	struct upkeep how = { .now_ms = window_now_ms(), .keep_ms = keep, .live = generation };
 *	history_upkeep(samples, &how, &log);
 *	puts(strbuf_text(&log));
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct history_functions;
struct history_kind;
struct strbuf;

struct upkeep {
	int64_t now_ms;
	uint64_t keep_ms;   /* what was written longer ago is deleted; 0: nothing */
	uint64_t bytes_max; /* of all files; 0: no limit */
	uint32_t live;	    /* the generation that is being written; UINT32_MAX: none */
	/* The history of the call chains, and its generation that is being written; NULL: there is
	 * none. It is static: the keeper's process gets this struct as bytes. */
	const struct history_kind *chains;
	uint32_t chains_live;
	const struct history_functions *functions; /* NULL: they are unknown */
	/* Sample files that were not written for so long are moved to idle/ (sfile/idle.h); 0: none
	 * are. Whoever writes them must have closed all of them before. */
	uint64_t idle_ms;
	bool spares_files; /* sample files are open: they are left as they are */
};

/* Rolls up and deletes what is due in the history of the session at @samples. Adds a line to @log
 * for whatever a person should know: what failed, was damaged, or was deleted for its size. Returns
 * the number of segments that were written; or -errno if something that is due could not be
 * written: the rest was done. */
int history_upkeep(const char *samples, const struct upkeep *how, struct strbuf *log);
