/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The foot of a report by symbols: how many samples have no symbol, why, and what would help; and
 * how many are in the loop of an interpreter, instead of the functions that it ran.
 * Samples between the symbols of an image that has some count too.
 *
 *	struct unresolved u;
 *	unresolved_collect(&container, gather, &u);	before rows are cut away
 *	unresolved_text(&u, gather, stdout);
 *	unresolved_done(&u);
 */
#pragma once

#include "profile/rows/code_kind.h"
#include "profile/rows/container.h"

#include <stdio.h>

struct gather;

/* The samples of one image that have no symbol for one reason. */
struct unresolved_image {
	uint32_t image;
	enum row_kind why;
	uint64_t samples;
};

struct unresolved {
	struct unresolved_image *images; /* heaviest first */
	size_t count;
	uint64_t samples, total;	  /* without symbol; in all */
	uint64_t unknown;		  /* in images that were not looked at */
	uint64_t ranges;		  /* of these: in rows shown as [file+offset] */
	uint64_t loops[CODE_KIND_COUNT_]; /* in the loop of an interpreter of that kind of code */
};

/* Adds up the rows of all classes, before any were left out; the caller calls unresolved_done(). */
void unresolved_collect(const struct container *c, const struct gather *g, struct unresolved *ret);
/* Forgets the samples in interpreters: they were meant to be shown there. */
void unresolved_forget_loops(struct unresolved *u);
/* Frees what was collected. */
void unresolved_done(struct unresolved *u);
/* What would help, in words; static. */
const char *unresolved_remedy(const struct unresolved_image *u, const struct gather *g);
/* Prints an empty line and the list, if the samples are at least half a percent. */
void unresolved_text(const struct unresolved *u, const struct gather *g, FILE *out);
