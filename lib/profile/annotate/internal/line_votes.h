/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which lines of two builds of a source file are the same, if only one version of the file is
 * there: lines whose instructions mostly correspond, and those between two such lines that are as
 * far apart in both builds. Files are numbers.
 *
 *	struct line_votes v = { 0 };
 *	line_votes_add_code(&v, LINE_FIRST, file, 10);	an instruction of line 10
 *	line_votes_add_code(&v, LINE_SECOND, file, 12);	its counterpart
 *	line_votes_add(&v, file, 10, 12);
 *	line_votes_count(&v);
 *	line = line_votes_find(&v, file, 10);		12
 *	line_votes_done(&v);
 */
#pragma once

#include "base/map.h"

#include <stddef.h>
#include <stdint.h>

struct line_vote {
	uint32_t file;
	unsigned int from, to;
	uint32_t count;
};

struct line_votes {
	struct line_vote *list; /* counted: those that won, by file and line */
	size_t count, room;
	struct map by_hash;  /* index + 1 */
	struct map codes[2]; /* by file and line: its instructions */
};

enum { LINE_FIRST, LINE_SECOND };

/* Adds an instruction of a line on that side. */
void line_votes_add_code(struct line_votes *v, unsigned int side, uint32_t file, unsigned int line);
/* Adds that an instruction of the line @from of the first side is one of @to of the second. */
void line_votes_add(struct line_votes *v, uint32_t file, unsigned int from, unsigned int to);
/* Ends adding. */
void line_votes_count(struct line_votes *v);
/* The line of the second side that @line of the first is; 0 if that cannot be known. */
unsigned int line_votes_find(const struct line_votes *v, uint32_t file, unsigned int line);
/* Frees all; a zeroed one is fine. */
void line_votes_done(struct line_votes *v);
