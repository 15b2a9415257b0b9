/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to the room: the state of a collector, and what collector_new() and collector_change()
 * share.
 */
#pragma once

#include "base/error.h"
#include "collect/internal/intake.h"
#include "history/upkeep.h"
#include "identity/hot_code.h"
#include "collect/internal/slicing.h"
#include "collect/internal/totals.h"

#include <sys/types.h>

struct collector_config;
struct driver_config;
struct driver_ops;
struct errands;
struct finder;
struct function_store;
struct relief;
struct spending;

struct collector {
	const struct driver_ops *ops;
	struct driver *driver;
	struct cookie_table *cookies;
	struct record *record;
	struct finder *finder; /* or NULL */
	struct function_store *functions;
	struct hot_code hot;	   /* whose lines are to be kept */
	uint64_t hot_ns;	   /* when that was last asked for */
	struct intake intake;	   /* of the event buffer */
	struct spending *spending; /* or NULL */
	bool has_history;
	struct slicing slicing;	   /* of the history */
	struct keeper *keeper;	   /* or NULL */
	struct attacher *attacher; /* borrowed; or NULL */
	struct upkeep upkeep;	   /* ->live: for which it was asked last */
	bool renewed; /* no sample file is open that was open when the keeper worked last */
	struct parser *parser;
	struct quota *quota;
	bool setup_due;	  /* setup could not be written when the session began */
	bool is_watched;  /* the session has a setup */
	int place;	  /* its directory (O_PATH); -1: it could not be opened */
	bool is_sampled;  /* from collector_start() to the end of collector_stop() */
	bool is_removed;  /* a session was, while it was written, */
	uint64_t removed; /* with so many samples */
	char *session_dir, *session_name, *samples;
	int lock;
	mode_t mode;	    /* of the session directory */
	gid_t group;	    /* the same */
	bool is_made_again; /* as collector_made_again() */
	bool running;
	bool has_drained;	 /* since collector_tend() was called last */
	bool is_behind;		 /* that call left all to the next one */
	bool is_drain_due;	 /* the driver has more */
	struct error drained;	 /* why collector_tend() could not drain; code 0: it could */
	struct totals totals;	 /* of the drivers and records before collector_change() */
	uint64_t written_ns;	 /* when the counters were last written to stats/ */
	struct turn *turn;	 /* of the caller's loop, or NULL */
	struct relief *relief;	 /* of its thread, or NULL */
	struct errands *clearer; /* that removes what removed sessions have left; or NULL */
	uint64_t drained_ns;	 /* when samples were last drained */
	bool is_draining;

	void (*relieved)(void *data); /* is called when the relief has drained; or NULL */
	void *relieved_data;
};

/* Drains the driver and records what it has, with @all all of it. 0; 1 if the source has ended; or
 * -errno. */
int collector_drain(struct collector *c, bool all, struct error *err);
/* Closes the sample files, and then drains and records all samples so far, in turns, between which
 * it drains. 0; 1 if the source has ended; or -errno. */
int collector_catch_up(struct collector *c, struct error *err);
/* Drains and records the last samples of the session, and has all written in turns. What is drained
 * in these waits for the next session, until intake.holds is false again. 0; 1 if the source has
 * ended; or -errno. */
int collector_drain_last(struct collector *c, struct error *err);
/* Drains until @errands has run the one with @number. Nothing is recorded meanwhile, nor after that
 * until intake.is_between is false again. Why it could not drain, collector_sync() reports. */
void collector_drain_beside(struct collector *c, struct errands *errands, uint64_t number);
/* Ends that: records what waits, in turns, in which it drains, so that it is counted in the slice
 * in which it was sampled. 0 or -errno. */
int collector_take_held(struct collector *c, struct error *err);
/* Has a thread, which nobody waits for, remove what removed sessions have left. */
void collector_clear(struct collector *c);
/* Warns of what the thread could not remove. */
void collector_note_cleared(struct collector *c);
/* Leaves the thread: what it does not remove until the process ends, the next one does. */
void collector_end_clearing(struct collector *c);
/* Prepares for collector_relieve(). What is drained then waits in the backlog. */
void collector_open_relief(struct collector *c);
/* What failed where it could not be reported, once: 0 or -errno. */
int collector_failure(struct collector *c, struct error *err);
/* Notes the growth of the driver's counters for stats/. */
void collector_note_driver(struct collector *c);
/* When a slice of the history ends. */
enum slice_end {
	SLICE_WHEN_DUE,
	SLICE_ON_REQUEST, /* sooner, unless it has hardly begun */
	SLICE_LAST	  /* at once: no other follows for now */
};

/* Begins the first slice of the history, if there is one. */
void collector_begin_slice(struct collector *c);
/* Ends the slice of the history if it is time. */
void collector_end_slice(struct collector *c, enum slice_end when);
/* Writes the counters to stats/, and the counts to the sample files: with @all at once, else in the
 * next turns. 0 or -errno. */
int collector_write(struct collector *c, bool all, struct error *err);

/* Notes the mode of the session directory, for one that replaces it. 0 or -errno. */
int collector_note_mode(struct collector *c, struct error *err);
/* Begins to notice if the session is removed, whose setup was written. */
void collector_watch_session(struct collector *c);
/* Ends that; what is counted from now on is of another session. */
void collector_forget_session(struct collector *c);
/* Whether the session is no longer where it was. */
bool collector_misses_session(const struct collector *c);
/* Begins the next session after this one was removed. 0 or -errno. */
int collector_begin_next(struct collector *c, struct error *err);
/* If the session was removed, counts its samples as lost, and begins another one. 0 or -errno. */
int collector_renew_session(struct collector *c, struct error *err);

/* Completes the driver's configuration with the collector's own fields. */
void collector_complete_drive(struct collector *c, const struct collector_config *config,
			      struct driver_config *ret);
/* Sets up the driver that @config asks for. 0 or -errno. */
int collector_open_driver(struct collector *c, const struct collector_config *config,
			  const struct driver_ops **ret_ops, struct driver **ret,
			  struct error *err);
/* Lets the history be rolled up when a generation has ended, and logs what came of it. */
void collector_tend_history(struct collector *c);
/* Opens the record, for the events of the driver that is set up. 0 or -errno. */
int collector_open_record(struct collector *c, const struct collector_config *config,
			  struct error *err);
