/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which chains a report is about, and which of their frames it shows, by the functions in them.
 *
 *	struct chain_filter f = { .gather = gather, .rows = rows, .choice = choice,
 *				  .native = { .gather = gather, .rows = rows } };
 *	if (chain_filter_take(&f, app, ids, &count))
 *		return count;		ids has the frames that are shown
 *	chain_filter_done(&f);
 */
#pragma once

#include "profile/rows/internal/chain_native.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chain_choice;
struct container;
struct gather;

/* What is known of the function of a row. */
struct chain_judgement {
	uint8_t found;	    /* what the lists say of it */
	uint16_t language;  /* the bit of its kind of code */
	uint16_t runs_code; /* of an interpreter or virtual machine: of what it runs; else 0 */
};

struct chain_filter {
	const struct gather *gather; /* all three are borrowed */
	struct container *rows;
	const struct chain_choice *choice;
	struct chain_native native;	/* if that is chosen; the same gather and rows */
	struct chain_judgement *of_row; /* of each row so far */
	size_t known, room;
};

/* Whether anything is left out. */
bool chain_filter_is_set(const struct chain_filter *f);
/* Whether a chain of the application @app is wanted whose frames are these rows, the innermost
 * first; removes those that are not shown. A chain without any left is not wanted. */
bool chain_filter_take(struct chain_filter *f, uint32_t app, uint32_t *ids, uint32_t *count);
/* Frees what it allocated. */
void chain_filter_done(struct chain_filter *f);
