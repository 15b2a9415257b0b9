/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads what the sample files of a session counted in a window of time (man ophistory.5), each part
 * of it from the finest level that has it, or a coarser one if the window is long; or, in steps of
 * time, from the coarsest one whose slices are no longer than a step. A slice is counted whole or
 * not at all: it belongs to the window if they have an instant in common. What the slices cover may
 * thus be a little more than the window, and there may be gaps. All data read from the files is
 * treated as untrusted. The struct history owns what it returns.
 *
 *	struct history *h;
 *	if (history_read(samples, &window, NULL, &h, err) == 0)	-ENOENT: there is none
 *		for (i = 0; i < history_files(h); i++)
 *			puts(history_file_at(h, i)->name.image->name);
 *	history_free(h);
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "history/history_name.h"
#include "history/levels.h"
#include "history/steps.h"
#include "history/window.h"

#include <stdbool.h>
#include <stddef.h>

/* What the slices say about themselves. */
struct history_cover {
	struct window span; /* from the begin of the first one to the end of the last one */
	int64_t gaps_ms;    /* time in the span that is in no slice */
	int64_t covered_ms; /* the sum of their lengths, without gaps in them */
	size_t slices;
	size_t by_level[HISTORY_LEVELS]; /* of these: history/levels.h */
	uint64_t folded;		 /* counts whose key or program is not known, as too rare */
	uint64_t functions; /* counts of whose keys only the function is known, as too rare */
	uint64_t samples, taken, lost, cpu_ms; /* see struct slice */
	int64_t touching; /* of a step: slices with an instant in it, those of other steps too */
	size_t damaged;	  /* bytes, of all files that were read */
	size_t rest;	  /* images of applications whose files were added up */
};

struct history;
struct history_kind;

/* Finds the time that the history of the session at @samples may cover in @window, without reading
 * counts; with the middles of slices that begin before it, or end after it. Returns 0, or -errno:
 * -ENOENT if the session has no history, or none in the window. */
int history_span(const char *samples, const struct window *window, struct window *ret,
		 struct error *err);
/* What there is of a level (history/levels.h). */
struct history_kept {
	struct window span; /* from the begin of the first slice to the end of the last one */
	size_t files;	    /* 0: there is nothing */
	uint64_t bytes;
};

/* Finds what a history of the session at @samples has of each level, without reading counts. 0 or
 * -errno. */
int history_kept(const char *samples, const struct history_kind *kind,
		 struct history_kept ret[HISTORY_LEVELS], struct error *err);
/* Reads the slices of the session at @samples that are in @window, each once. @steps divides the
 * time, if it is not NULL: the counts of a slice are those of the step that it belongs to. Returns
 * 0 (the caller frees) or -errno: -ENOENT if the session has no history. There may be no slice in
 * the window. */
int history_read(const char *samples, const struct window *window, const struct steps *steps,
		 struct history **ret, struct error *err);
/* What is read, as by history_read(). */
struct history_wanted {
	const struct window *window;
	const struct steps *steps;
	/* Whether the keys of a sample file matter. Those of others are not told apart: all their
	 * counts have the key 0, which takes less time and memory. NULL: they all matter. */
	bool (*wants_keys)(const struct sname *name, void *data);
	void *data;
	/* Not 0, without steps, and with all keys: what is wanted is so many symbols with the most
	 * samples. If there are many images of applications with too few samples to have one of
	 * these, their files are added up, to one for each event and task (->is_rest): most of the
	 * time is taken by names. */
	size_t top;
	/* Only what the slices say about themselves: no counts are read, and there are no files. */
	bool covers_only;
};
int history_read_wanted(const char *samples, const struct history_wanted *wanted,
			struct history **ret, struct error *err);
/* Reads the counts of the sample files of the session at @samples that were moved to idle/ and
 * merged (sfile/idle.h), without time. 0; *@ret is NULL if there are none. Or -errno. In *@ret_last
 * is the last batch that the counts are of. */
int history_read_idle(const char *samples, struct history **ret, uint32_t *ret_last,
		      struct error *err);
/* NULL is allowed. */
void history_free(struct history *h);
DEFINE_CLEANUP(struct history *, history_free);

size_t history_files(const struct history *h);
const struct history_file *history_file_at(const struct history *h, size_t i);
const struct history_cover *history_covers(const struct history *h);
/* The same of the slices in step number @i alone; NULL if time was not divided. */
const struct history_cover *history_covers_step(const struct history *h, uint32_t i);
