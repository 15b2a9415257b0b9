/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The levels of a history: the older, the longer the slices, and the more of what is rare is folded
 * (man ophistory.5). Level 0 has the slices as they are written: generations, and segments that
 * some were packed into. The others are segments. What is folded is in history/history_kind.h.
 *
 *	for (i = 1; i < HISTORY_LEVELS; i++)
 *		printf("%u: %" PRId64 " s\n", i, history_level(i)->slice_ms / 1000);
 */
#pragma once

#include <stdint.h>

/* The length of a slice as it is written. */
enum { HISTORY_SLICE_MS = 10000 };

enum { HISTORY_LEVELS = 4 };

/* Sample files that were not written for so long are moved to idle/ (sfile/idle.h). */
enum { HISTORY_IDLE_MS = 24 * 3600 * 1000 };

struct history_level {
	int64_t slice_ms; /* length of a slice */
	int64_t span_ms;  /* time that a segment is made of; level 0: a generation ends by itself */
	int64_t keep_ms;  /* how long it is kept once the next level has it */
	const char *slice_text; /* ->slice_ms for people: "10 s" */
};

/* Level @i. */
const struct history_level *history_level(unsigned int i);
