/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the daemon shows of itself: a copy that the main loop makes after each of its turns, and
 * that another thread may read meanwhile. The loop shows its view on a board, and the thread looks
 * at it.
 *
 *	struct view view;
 *	view_init(&view);
 *	view_make(&view, &status);
 *	view_show(board, &view);	in the main loop
 *	view_look(board, &mine);	in the thread
 *	view_done(&view);
 */
#pragma once

#include "base/macro.h"
#include "base/strbuf.h"
#include "driver/driver.h"
#include "oprofilefs/nodes_host.h"
#include "record/record.h"

#include <stdbool.h>
#include <stdint.h>

struct status;

struct view {
	uint64_t at_ns; /* when it was made, CLOCK_MONOTONIC; 0: never */
	bool running;
	struct strbuf status; /* of status_answer() */
	uint64_t other_bytes; /* memory of the parser and in the kernel */
	struct node_settings settings;
	struct driver_stats driver;
	struct record_stats record;
	uint64_t event_lost;  /* words dropped because readers of the event buffer were too slow */
	const char *cpu_type; /* key of what is sampled; lives as long as the process */
	const char *own_cpu_type; /* key of this machine's */
	unsigned int cpu_count;
	struct driver_cpu_stats *cpus; /* array of cpu_count */
};

/* Initializes an empty view; release with view_done(). */
void view_init(struct view *v);
/* Fills it in, except for the settings and ->event_lost. */
void view_make(struct view *v, const struct status *status);
/* Frees what it owns. */
void view_done(struct view *v);

struct view_board;

/* Caller frees. */
struct view_board *view_board_new(void);
/* NULL is fine. */
void view_board_free(struct view_board *b);
DEFINE_CLEANUP(struct view_board *, view_board_free);

/* Copies @v to the board. */
void view_show(struct view_board *b, const struct view *v);
/* Copies the board to @v, if that is older. */
void view_look(struct view_board *b, struct view *v);
