/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread that runs errands: calls that may wait for others, so that the thread that asks for them
 * need not. They are run one after the other, in order, and taken back in that order. The thread
 * gets no signals, and has no capabilities but those to use files.
 *
 *	errands_new(ERRANDS_OUTSIDE, &errands, err);
 *	e->run = run_it;
 *	e->drop = drop_it;
 *	number = errands_add(errands, e);
 *	...
 *	while ((e = errands_take(errands)))	it is the caller's again
 *		...
 *	errands_free(errands);
 *
 * What an errand uses must exist until errands_free(), which waits for the one that is being run.
 * If that may never end, errands_leave() waits for nothing; then errands may use only what is
 * theirs.
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first member of what the caller makes. */
struct errand {
	void (*run)(struct errand *e);	/* in the thread */
	void (*drop)(struct errand *e); /* frees it; for those that are not taken */
	struct errand *next;		/* private */
};

struct errands;

enum { ERRANDS_MAX = 8192 }; /* that may wait */

enum errands_kind {
	ERRANDS_OUTSIDE, /* they talk to others: the thread has no capabilities */
	ERRANDS_FILES,	 /* they use own files: it keeps those that override the modes of files */
	ERRANDS_SOON,	 /* as ERRANDS_OUTSIDE; it gets a CPU before others (NICENESS_SOON) */
	ERRANDS_FILES_SOON, /* as ERRANDS_FILES, in the same way */
	ERRANDS_KERNEL,	    /* the same, and they see the addresses of the kernel */
	ERRANDS_PROCESSES, /* they read /proc, soon waited for: it keeps the right to, or all if the
			    * caller has none for other processes, and its priority */
};

/* Starts the thread. 0, caller frees; or -errno. */
int errands_new(enum errands_kind kind, struct errands **ret, struct error *err);
/* Begins no further errand. */
void errands_end(struct errands *s);
/* Ends the thread after the errand that it runs, and drops all. NULL is fine. */
void errands_free(struct errands *s);
/* Does the same without waiting: the thread frees all when it is done with its errand, if ever.
 * NULL is fine. */
void errands_leave(struct errands *s);
DEFINE_CLEANUP(struct errands *, errands_free);

/* Takes @e. Returns its number, counted from 1; 0 if too many wait: then it is dropped. */
uint64_t errands_add(struct errands *s, struct errand *e);
/* The number of the last one that was run. */
uint64_t errands_finished(struct errands *s);
/* How many were not run yet. */
size_t errands_left(struct errands *s);
/* Waits until the one with @number was run, but at most @ms; returns whether it was. */
bool errands_wait(struct errands *s, uint64_t number, int ms);
/* Returns the next one that was run, which is the caller's again; NULL if there is none. */
struct errand *errands_take(struct errands *s);
