/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output that people read on a terminal: through a pager, in colour, as wide as the terminal, and
 * not everything at once. What does not go to a terminal is for scripts and stays as it is.
 *
 *	struct screen screen = { .wide = true };
 *	screen_open(&screen, stdout);		the pager runs from here until the tool ends
 *	printf(screen.colour ? "\033[31mhot\033[0m" : "hot");
 */
#pragma once

#include "base/error.h"
#include "base/opt.h"

#include <stdbool.h>
#include <stdio.h>

struct screen {
	/* Options: */
	bool no_pager, wide;
	enum { SCREEN_COLOUR_AUTO, SCREEN_COLOUR_ALWAYS, SCREEN_COLOUR_NEVER } colour_when;
	uint64_t precision; /* decimals of percentages; 0: not given */
	/* Results of screen_open(): */
	bool is_terminal;
	bool colour;	       /* use escape sequences for colours */
	unsigned int width;    /* to which lines are cut; 0: they are not */
	unsigned int decimals; /* of percentages; 0: as for scripts */
};

/* The rows of a tool's table of options (struct opt): of all tools, and of those that print
 * percentages. */
#define SCREEN_PAGER_OPTION(screen)                                                                \
	{                                                                                          \
		0, "no-pager", OPT_FLAG, &(screen).no_pager, NULL,                                 \
			"on a terminal: do not show the output through $OPROFILE_PAGER, $PAGER "   \
			"or less"                                                                  \
	}
#define SCREEN_OPTIONS(screen)                                                                     \
	{ 'W',                                                                                     \
	  "wide",                                                                                  \
	  OPT_FLAG,                                                                                \
	  &(screen).wide,                                                                          \
	  NULL,                                                                                    \
	  "on a terminal: whole names, however long (default: shortened to fit, parameters of "    \
	  "functions first)" },                                                                    \
		{ 0,                                                                               \
		  "precision",                                                                     \
		  OPT_CALL,                                                                        \
		  &(screen).precision,                                                             \
		  "N",                                                                             \
		  "decimals of percentages, 1 to 4 (default: 2 on a terminal, else 4)",            \
		  screen_set_precision },                                                          \
		{ 0,                                                                               \
		  "color",                                                                         \
		  OPT_CALL,                                                                        \
		  &(screen),                                                                       \
		  "WHEN",                                                                          \
		  "auto (default: on a terminal, unless $NO_COLOR is set), always or never",       \
		  screen_set_colour },                                                             \
		SCREEN_PAGER_OPTION(screen)

/* --color: sets colour_when of the struct screen @target. 0 or -EINVAL. */
int screen_set_colour(const char *arg, void *target, struct error *err);
/* --precision: sets the uint64_t @target. 0 or -EINVAL. */
int screen_set_precision(const char *arg, void *target, struct error *err);
/* Finds out what @out is and sets the results. If it is standard output and a terminal, starts a
 * pager as git does: it shows nothing before there is output, and ends at once if all fits. From
 * here on standard output goes to it, and the tool ends when the pager does. Call it before the
 * tool gives up any rights. */
void screen_open(struct screen *screen, FILE *out);
