/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time that the loop of a profiler takes between two waits, during which it drains nothing, and
 * the stage of the work that took it. A plain value: nothing to free. At the debug level, the log
 * says where the time of each long turn went.
 *
 *	turn_start(&turn);		sampling starts
 *	turn_begin(&turn);		after each wait
 *	...
 *	turn_stage(&turn, TURN_DRAIN);	the time since the last stage was spent on draining
 *	turn_end(&turn);		before the next wait
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Stages: name, what is done. */
#define TURN_STAGES(X)                                                                             \
	X(START, "start", "starting to sample")                                                    \
	X(IDENTIFY, "identify", "taking over the identities of files")                             \
	X(DRAIN, "drain", "draining samples and recording them")                                   \
	X(CHECK, "check", "reading the program's counters, and looking at CPUs")                   \
	X(SWEEP, "sweep", "forgetting files that were not sampled for long")                       \
	X(AWAIT, "await", "waiting for the identities of files")                                   \
	X(JIT, "jit", "placing samples in JIT code")                                               \
	X(FILES, "files", "opening, writing and closing sample files")                             \
	X(IMAGES, "images", "forgetting images that were not sampled for long")                    \
	X(QUOTA, "quota", "measuring what sampling costs, and memory and disk in use")             \
	X(STATS, "stats", "writing counters")                                                      \
	X(OTHER, "other", "requests, signals and the rest")

enum turn_stage {
#define X(stage, name, text) TURN_##stage,
	TURN_STAGES(X)
#undef X
		TURN_STAGE_COUNT_
};

struct turn {
	uint64_t begun_ns, marked_ns;	       /* this turn, and its last stage; CLOCK_MONOTONIC;
						* 0: there is none */
	bool is_idle;			       /* sampling has stopped: nothing is to be drained */
	uint64_t longest_ns;		       /* turn */
	uint64_t late;			       /* turns longer than turn_late_ns */
	uint64_t stages_ns[TURN_STAGE_COUNT_]; /* the longest time of each stage */
	void (*between)(void *data);	       /* is called after each turn; or NULL */
	void *data;
	/* Of this turn, only at the debug level: */
	bool is_watched;
	clockid_t clock; /* of the thread whose turn it is */
	pid_t tid;
	uint64_t ran_ns, queued_ns; /* of that thread when it began: it ran, it waited for a CPU */
	uint64_t these_ns[TURN_STAGE_COUNT_]; /* each stage */
};

/* A turn that takes longer is late. */
extern const uint64_t turn_late_ns;

/* Begins a turn. */
void turn_begin(struct turn *t);
/* Ends a stage, which began with the turn or at the end of the stage before. NULL is fine. */
void turn_stage(struct turn *t, enum turn_stage stage);
/* Ends a turn. */
void turn_end(struct turn *t);
/* Ends a turn and begins the next one, in work that drains in between. NULL is fine. */
void turn_next(struct turn *t);
/* Ends a stage of a turn of another thread, for which this one has just drained: the times before
 * and after that count as two turns. NULL is fine. */
void turn_split(struct turn *t);
/* Forgets the longest times and begins a turn, because sampling starts. What was late stays
 * counted. NULL is fine. */
void turn_start(struct turn *t);
/* Ends the time in which nothing was drained, because sampling has stopped. No later one counts,
 * until turn_start(). NULL is fine. */
void turn_stop(struct turn *t);
/* The longest time without a drain, also that of this turn so far. */
uint64_t turn_longest_ns(const struct turn *t);
/* The name of a stage, and what is done in it. */
const char *turn_stage_name(enum turn_stage stage);
const char *turn_stage_text(enum turn_stage stage);
