/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of optop: what is shown and what is asked for. It never waits: answers come from other
 * processes (tools/optop/worker.h, asking.h), and the caller polls for them and for keys.
 *
 *	struct live live;
 *	live_init(&live, feed, &question, 3000);
 *	for (;;) {
 *		poll(fds, live_poll(&live, fds), live_timeout(&live));
 *		if (live_go_on(&live))
 *			puts(live.rows.count ? live.rows.rows[0].name : "nothing");
 *	}
 *	live_done(&live);
 */
#pragma once

#include "base/strbuf.h"
#include "tools/optop/optop_answer.h"
#include "tools/optop/asking.h"
#include "tools/optop/collect.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LIVE_FDS = 2, LIVE_TREND = 60 };

/* A page of text that covers the rows. */
struct live_page {
	enum asking_page kind; /* ASKING_ROWS: none */
	char *title;
	struct answer answer;
	bool is_complete;
	size_t first, left; /* line at the top, column at the left */
};

struct worker;

struct live {
	const struct feed *feed;
	struct question question;
	int64_t delay_ms;
	struct answer rows;
	struct live_page page;
	struct worker *worker;	    /* NULL: not started, or ended */
	bool is_asking;		    /* the worker's answer is due */
	bool is_choosing;	    /* other rows of the same samples are wanted */
	bool has_chosen;	    /* the answer that is due, or was the last one, is such */
	size_t least_rows;	    /* that are asked for */
	struct asking *asking_page; /* in progress, or NULL */
	int64_t asked_ms;	    /* when new rows were asked for; 0: not yet */
	int64_t waits_ms;	    /* since when an answer is due */
	unsigned int calm;	    /* answers since the rows were sorted whole */
	bool is_paused, is_changed; /* is_changed: by the user, so rows may jump */
	double busy[LIVE_TREND];    /* CPUs, the newest last; negative: not known */
	int64_t answer_ms;	    /* CPU time that the last answer took to make */
	double own_percent;	/* of a CPU, by this tool and its sampling; negative: not known */
	double used_seconds;	/* of CPU time, until ->cost_ms; negative: not known */
	double reader_seconds;	/* of these: by the process that reads the profile */
	int64_t cost_ms;	/* 0: not known yet */
	struct strbuf search;	/* only rows with this text */
	size_t selected, first; /* among the rows that match: chosen, and at the top */
	char trouble[1024];	/* why there is no answer, or "" */
};

/* @feed and what @question points to are borrowed. */
void live_init(struct live *l, const struct feed *feed, const struct question *question,
	       int64_t delay_ms);
void live_done(struct live *l);

/* Sets the descriptors to poll; returns how many. */
size_t live_poll(const struct live *l, struct pollfd fds[LIVE_FDS]);
/* Milliseconds until something is due; -1 if nothing is. */
int live_timeout(const struct live *l);
/* Asks, and takes answers. Returns whether there is something new to show. */
bool live_go_on(struct live *l);
/* Asks again at once, because the question has changed. */
void live_ask_again(struct live *l);

/* Shows other rows of the same samples, because order or search have changed. */
void live_choose_again(struct live *l);

/* The next longer (@step 1) or shorter (-1) window of time. */
void live_change_window(struct live *l, int step);
/* The time that is shown: "9.8 s", "10 min", "all"; caller frees. */
char *live_window_text(const struct live *l);
/* Opens a page about the row that is selected; nothing if there is none. */
void live_open_page(struct live *l, enum asking_page kind);
void live_close_page(struct live *l);

/* The @i-th of the rows that match the search; NULL if it is not known (yet). */
const struct answer_row *live_row(const struct live *l, size_t i);
/* Samples as seconds of CPU time; negative: not known. */
double live_cpu_seconds(const struct live *l, uint64_t samples);
/* The command that prints the same numbers; caller frees. */
char *live_command(const struct live *l);
