/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads what the sample files of a session counted in a window of time (man ophistory.5). A slice
 * is counted whole or not at all: it belongs to the window if they have an instant in common. What
 * the slices cover may thus be a little more than the window, and there may be gaps. All data read
 * from the files is treated as untrusted. The struct history owns what it returns.
 *
 *	struct history *h;
 *	if (history_read(samples, &window, &h, err) == 0)	-ENOENT: there is none
 *		for (i = 0; i < history_files(h); i++)
 *			puts(history_file_at(h, i)->about.name.image.name);
 *	history_free(h);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "history/history_name.h"
#include "history/window.h"

#include <stddef.h>

struct history_count {
	uint64_t key; /* as in the sample file */
	uint64_t count;
};

/* A sample file as it would be if the session were the window. */
struct history_file {
	struct history_name about;
	const struct history_count *counts; /* sorted by key, each once */
	size_t count;
};

/* What the slices say about themselves. */
struct history_cover {
	struct window span; /* from the begin of the first one to the end of the last one */
	int64_t gaps_ms;    /* time in the span that is in no slice */
	size_t slices;
	uint64_t samples, taken, lost, cpu_ms; /* see struct slice */
	size_t damaged;			       /* bytes, of all files that were read */
};

struct history;

/* Reads the slices of the session at @samples that are in @window. Returns 0 (the caller frees) or
 * -errno: -ENOENT if the session has no history. There may be no slice in the window. */
int history_read(const char *samples, const struct window *window, struct history **ret,
		 struct error *err);
/* NULL is allowed. */
void history_free(struct history *h);
DEFINE_CLEANUP(struct history *, history_free);

size_t history_files(const struct history *h);
const struct history_file *history_file_at(const struct history *h, size_t i);
const struct history_cover *history_covers(const struct history *h);
