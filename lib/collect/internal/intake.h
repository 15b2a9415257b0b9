/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the words of the event buffer go: to the record, a file, a reader. They wait in a backlog
 * while an image in them is being identified.
 *
 *	struct intake i = { .cookies = cookies, .record = record };
 *	... intake_words() is the driver's sink, with &i ...
 *	intake_settle(&i, INTAKE_SOME);	after each drain
 *	intake_done(&i, &stats);
 */
#pragma once

#include "collect/internal/backlog.h"

enum intake_wait {
	INTAKE_SOME, /* what is identified */
	INTAKE_ALL,  /* also the rest, soon: sampling goes on */
	INTAKE_LAST, /* also the rest: sampling has stopped */
};

struct driver_stats;
struct record;
struct stream_file;
struct stream_outlet;

struct relief;

struct intake {
	struct cookie_table *cookies;
	struct record *record;
	struct relief *relief;	      /* while images are awaited; borrowed, or NULL */
	struct stream_file *tee;      /* owned, or NULL */
	struct stream_outlet *outlet; /* or NULL */
	struct backlog backlog;
	bool defers;	   /* all waits until intake_settle(): a driver is not relieved */
	bool holds;	   /* all waits in the backlog, unless there is no room */
	bool is_between;   /* two sessions: all waits, room or not */
	uint64_t until_ns; /* then the turn is over, and all waits in the backlog; 0: no limit */
	int failure;	   /* -errno for intake_settle() to return */
	uint64_t mark;	   /* number of the last part that intake_catch_up() passes on */
};

/* Begins a turn. Unless @in_turns, it has no limit of time: nobody will call intake_tend(). */
void intake_begin(struct intake *i, bool in_turns);
/* Passes on what is identified, for some milliseconds. Returns whether there is more. */
bool intake_tend(struct intake *i);
/* Marks what waits, which intake_catch_up() will pass on. */
void intake_mark(struct intake *i);
/* Whether the images in it are identified. */
bool intake_is_identified(const struct intake *i);
/* From now on, it may be passed on in any case. */
void intake_let_go(struct intake *i);
/* Passes it on, for some milliseconds; not what came later. Returns whether there is more. */
bool intake_catch_up(struct intake *i);
/* Takes words; an evbuf_sink whose @data is a struct intake. */
int intake_words(const uint64_t *words, size_t count, void *data);
/* Passes on what waits no longer, or all; waits a little for the images. 0, or -errno of the
 * record. */
int intake_settle(struct intake *i, enum intake_wait wait);
/* Frees what waits, and completes the file with @stats. */
void intake_done(struct intake *i, const struct driver_stats *stats);
