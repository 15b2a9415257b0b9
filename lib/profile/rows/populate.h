/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the sample files, image by image, and makes the rows of a report from them: one for each
 * symbol and application or, for the summary, one for each image and application. Samples in no
 * symbol get rows of their own, so that the rows always add up to all samples.
 *
 *	struct populate_config config = { .symbols = true };
 *	struct populate_job job = { gather, &classes, &by_image, binaries, &config, &container };
 *	populate_images(&job);
 *	printf("%zu sample files\n", job.stats.read);
 */
#pragma once

#include "profile/rows/container.h"
#include "sfile/sfile.h"

#include <stdbool.h>

struct binaries;
struct classes;
struct gather;
struct by_image;
struct line_choice;
struct symbol_filter;

struct populate_config {
	bool symbols;	     /* rows by symbol, else by image */
	bool merge_lib;	     /* the rows of all applications are one */
	bool by_interpreter; /* but not those of interpreted code: row_join_native() needs them */
	bool regions;	     /* each region of JIT code has rows of its own (row_join.h) */
	bool exclude_dependent; /* only samples in the application's own image */
	bool details;		/* with symbols: keep the samples of each row (row_detail.h) */
	bool code;		/* with symbols: their size and code; binaries are kept open */
	bool lines;   /* with symbols: look up source lines, with details of samples too */
	bool inlines; /* with symbols: inlined functions get rows of their own */
	/* With symbols: only samples in its file have rows, with details and the texts of lines
	 * (line_choice.h). NULL: all have. */
	const struct line_choice *line;
	/* With symbols and without details: the others have no rows, but are in the totals. NULL:
	 * all have rows. */
	const struct symbol_filter *only;
	/* Called before each image and, with @done equal to @all, at the end; or NULL. */
	void (*step)(void *data, size_t done, size_t all);
	void *step_data;
};

struct populate_stats {
	size_t read;		    /* sample files read */
	size_t bad;		    /* sample files that could not be read; each was reported */
	bool is_gone;		    /* as gather_warn_file() says */
	struct sfile_header header; /* of the first file: CPU type and speed */
};

/* The sources and the destination of rows; all borrowed. */
struct populate_job {
	const struct gather *gather;
	const struct classes *classes;
	const struct by_image *by_image;
	struct binaries *binaries; /* may be NULL for the summary */
	const struct populate_config *config;
	struct container *out; /* initialised */
	struct populate_stats stats;
};

/* Adds the samples of all files of job->by_image to job->out and job->stats. */
void populate_images(struct populate_job *job);
