/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of struct annotate_diff, and what its forms, text and JSON, share.
 *
 *	annotate_changes_take_rest(d, ANNOTATE_LEFT_LINES);
 *	files = annotate_changes_files(d, &count);
 */
#pragma once

#include "profile/annotate/annotate_side.h"
#include "profile/annotate/internal/annotate_listings.h"
#include "profile/annotate/internal/annotate_pair.h"
#include "profile/annotate/internal/annotate_places.h"
#include "profile/print/report.h"

/* What samples that are not shown are missing from. */
#define ANNOTATE_LEFT(X)                                                                           \
	X(FUNCTIONS, "functions")                                                                  \
	X(LINES, "lines")                                                                          \
	X(CODE, "code")

enum annotate_left_of {
#define X(of, name) ANNOTATE_LEFT_##of,
	ANNOTATE_LEFT(X) ANNOTATE_LEFT_COUNT_
#undef X
};

/* Samples that are not shown: rows, with the reason of each. */
struct annotate_left {
	struct annotate_rows rows;
	struct annotate_rest *list; /* of each row of the second container; ->image is one of the
				     * second profile or ANNOTATE_NONE */
};

struct annotate_diff {
	struct annotate_diff_side sides[2];
	struct annotate_diff_config config;
	struct annotate_pair pair;
	struct annotate_places places;
	struct annotate_listings listings;
	struct annotate_left left[ANNOTATE_LEFT_COUNT_];
	struct report_view view; /* for ->report */
	struct report_before before;
	struct report report; /* for the header and its numbers */
};

/* What a place shows: a row, or counts of which those of the first profile are not known. */
struct annotate_change {
	const struct container *container; /* of the row */
	const struct row *row;		   /* NULL: no samples */
	bool is_loose;			   /* the first profile's samples are not known */
	bool is_left; /* it is not shown: what it would be compared with may be elsewhere */
};

/* What a line of the second side, or one that only the first has, shows. */
struct annotate_change annotate_change_of_line(const struct annotate_diff *d, unsigned int side,
					       const struct annotate_line *line);
/* The same of a file of the second side. */
struct annotate_change annotate_change_of_file(const struct annotate_diff *d,
					       const struct annotate_file *file);
/* The same of a function of the second side, or (ANNOTATE_NONE) that only the first has. */
struct annotate_change annotate_change_of_function(const struct annotate_diff *d, uint32_t function,
						   const struct row *row);
/* The same of a row of what is not shown. */
struct annotate_change annotate_change_of_left(const struct annotate_left *left, size_t row);
/* The same of instruction number @i of a side; @inverse has the first's by those of the second. */
struct annotate_change annotate_change_of_code(const struct annotate_diff *d,
					       const struct annotate_listing *f, unsigned int side,
					       size_t i, const uint32_t *inverse);

/* Of each of @count things of the second side, the one of the first whose partner it is. @partners
 * has the partner of each of @from things, or is NULL. Caller frees. */
uint32_t *annotate_changes_invert(const uint32_t *partners, size_t from, size_t count);

/* How many things of the first side, of @first, are before thing number @i of @count of the second:
 * those that only the first has come before those that only the second has. */
size_t annotate_changes_before(const uint32_t *inverse, size_t i, size_t count, size_t first);

/* A file that is shown: the index on the second side. */
struct annotate_shown {
	uint64_t rank;
	uint32_t file;
};

/* The files that are shown, those that changed most first; the samples of the others are added to
 * the rest. Caller frees. */
struct annotate_shown *annotate_changes_files(struct annotate_diff *d, size_t *ret_count);
/* Makes rows of what is in the rest of both profiles, and empties it; once for each @of. */
void annotate_changes_take_rest(struct annotate_diff *d, enum annotate_left_of of);
/* The name for programs of what they are missing from; static. */
const char *annotate_left_name(enum annotate_left_of of);

/* How the lines of a file are matched, as a word for programs. */
const char *annotate_changes_how(const struct annotate_diff *d, const struct annotate_file *second);
