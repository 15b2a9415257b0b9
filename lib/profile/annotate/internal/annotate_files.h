/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source files and lines that the samples of two profiles are on. They are filled by
 * annotate_places.h, which has an example.
 *
 *	file = annotate_files_index(&places, 1, "/build/a.c");
 *	line = annotate_files_at(&places, 1, file, 7);
 */
#pragma once

#include "profile/annotate/internal/annotate_pair.h"
#include "profile/annotate/internal/annotate_rows.h"
#include "profile/annotate/internal/line_votes.h"

struct gone_lines;
struct lines;
struct sourcetext;

/* A source file; each has a partner on the other side. */
struct annotate_file {
	const char *path; /* as compiled */
	uid_t owner;	  /* of the binary that names it; root if one of root names it */
	uint32_t partner; /* its index on the other side */
	uint32_t number;  /* of its row */
	char *found;	  /* where it is; NULL: nowhere */
	struct sourcetext *text;
	size_t line_count;  /* of the text */
	uint32_t *matches;  /* of each line of the first side's text, from 0 on: that of the second,
			    * or SEQUENCE_NONE; NULL: only one text is there */
	bool is_sampled;    /* or its partner is */
	bool is_rebuilt;    /* code of two builds is on its lines */
	bool is_loose;	    /* its samples of the first profile are not all known */
	bool is_moved;	    /* has lines of a binary that is gone, as they are numbered now */
	uint64_t built;	    /* binary_built() of the oldest other one; 0: there is none */
	bool is_renumbered; /* of the first side: lines of both are numbered as now */
};

/* A line with samples, or the counterpart of one. */
struct annotate_line {
	uint32_t file;
	unsigned int line;
	uint32_t partner; /* the index on the other side, or ANNOTATE_NONE */
	uint32_t number;  /* of its row; ANNOTATE_NONE: none */
	bool is_loose; /* its samples in the first profile are not known: the row is in ->loose */
	bool is_unplaced; /* of the first side: it may be anywhere in the second, and has no row */
};

/* A line on which a function starts. */
struct annotate_head {
	uint32_t file;
	unsigned int line;
	uint32_t function; /* of the second profile */
};

struct annotate_places {
	struct annotate_pair *pair;
	struct annotate_file *files[2];
	struct annotate_line *lines[2];
	struct annotate_head *heads; /* by file and line */
	size_t file_count[2], file_room[2], line_count[2], line_room[2], head_count, head_room;
	struct map file_by_path[2], line_by_key[2]; /* index + 1 */
	uint32_t **line_of[2];	     /* of each sample of each view, ANNOTATE_NONE: not known */
	struct lines **tables[2];    /* of each view, NULL: it has no file */
	struct gone_lines **gone[2]; /* of each view, NULL: it is not gone */
	struct line_votes votes;
	uint64_t *unplaced; /* samples of the first side on lines without a place; NULL: none */
	struct annotate_rows rows, loose, file_rows;
};

/* The line @line of a file that has a row or is the counterpart of one that has; NULL if there is
 * none. */
const struct annotate_line *annotate_files_at(const struct annotate_places *s, unsigned int side,
					      uint32_t file, unsigned int line);

/* The index of the file at @path, which is added if it is new. */
uint32_t annotate_files_index(struct annotate_places *s, unsigned int side, const char *path);
/* Makes two files partners. */
void annotate_files_pair(struct annotate_places *s, uint32_t first, uint32_t second);
/* The index of a file's partner, which is added if it is new; ANNOTATE_NONE if another file has
 * it. */
uint32_t annotate_files_partner(struct annotate_places *s, unsigned int side, uint32_t file);
/* The index of a line, which is added if it is new. */
uint32_t annotate_files_line(struct annotate_places *s, unsigned int side, uint32_t file,
			     unsigned int line);
