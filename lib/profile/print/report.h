/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a formatter prints: the filled container with all that names its rows, and how to show it.
 * The formatters (text, JSON) only read it.
 *
 *	struct report report = { .gather = g, .classes = classes, .container = rows, ... };
 *	report_symbols_text(&report, stdout);
 */
#pragma once

#include "profile/select/classes.h"
#include "profile/rows/container.h"
#include "profile/rows/diff.h"
#include "profile/select/gather.h"
#include "profile/rows/sort.h"
#include "sfile/sfile.h"

#include <stdbool.h>
#include <stdio.h>

struct callgraph;
struct chains;
struct losses;
struct strbuf;
struct unresolved;

/* The first of two profiles that are compared, for the header. */
struct report_before {
	const char *words[2]; /* the specifications of both */
	const struct losses *losses;
	size_t skipped;
};

/* An option that the report was asked for with, as the XML form shows it. */
struct report_option {
	const char *name, *value; /* NULL value: not given */
};

struct report {
	const struct gather *gather;
	const struct classes *classes;
	const struct container *container;
	const struct callgraph *calls;	    /* of these rows, where they are reported, else NULL */
	const struct chains *chains;	    /* whole chains, of which the header says how many are
					     * complete, or NULL */
	bool quality;			    /* and where and why the others end */
	const struct report_before *before; /* where two profiles are compared, else NULL */
	enum diff_by compare_by;
	const struct unresolved *unresolved; /* what has no symbol, or NULL */
	const struct sort *sort;	     /* the order that the rows stand in */
	struct sfile_header header;	     /* of a sample file: CPU type, speed */
	uint64_t timer_hz; /* samples a second and CPU in timer mode; 0: unknown */
	size_t skipped;	   /* files that could not be read and are not in it */
	bool show_header;
	bool long_names;     /* paths instead of their last parts */
	bool show_address;   /* a column of addresses */
	bool symbols;	     /* rows are symbols, not images */
	bool details;	     /* below each symbol its addresses */
	bool lines;	     /* a column of source lines */
	bool accumulated;    /* columns of running sums */
	bool errors;	     /* columns of the interval that a share is in, at 95 % */
	bool global_percent; /* not of the application, of the symbol, but of the total */
	bool merge_lib;	     /* applications are not told apart */
	double threshold;    /* in percent: what container_cut() was asked for */
	uint64_t top;	     /* rows, if not 0: what container_top() was asked for */
	unsigned int width;  /* of the terminal: names are cut to fit; 0: they are not */
	bool colour;	     /* escape sequences are welcome */
	bool terminal;	     /* somebody looks at it: no form may send what a terminal obeys */
	const char *command; /* the command line, for the XML form */
	const struct report_option *options; /* likewise; ends with a NULL name */
};

/* Forms of a report. */
enum report_form { REPORT_TEXT, REPORT_JSON, REPORT_CSV, REPORT_XML, REPORT_FORM_COUNT_ };

struct report_form_info {
	const char *name;
	bool is_for_programs; /* in full: any number of classes along any axes, whole paths */
	void (*print)(const struct report *r, const struct losses *losses, FILE *out);
};

/* What is known of a form. */
const struct report_form_info *report_form(enum report_form form);

/* How image number @image is named in the report: its path, or the last part of it. */
const char *report_image(const struct report *r, uint32_t image);
/* Whether the rows have more than one application, so that a column for it says something. */
bool report_has_apps(const struct report *r);

/* Adds the name of the row's symbol, or what stands in its place, cut to @room characters if that
 * is not 0; behind that of an inlined function stands so. */
void report_add_name(struct strbuf *out, const struct row *row, unsigned int room);

/* A percentage in seven characters: "62.2916", "100.000", "      0", "3.4e-06". */
void report_percent(double percent, char text[16]);

/* The name of a class cut to @width characters: in the middle, so that what tells it from its
 * neighbour stays. @text has room for @width + 1. */
void report_class_name(const struct report *r, size_t class, size_t width, char *text);

/* The list of symbols, a line a row, as a table for people. */
void report_symbols_text(const struct report *r, FILE *out);
/* Who called whom: a block a function, with its callers above it and its callees below. */
void report_calls_text(const struct report *r, FILE *out);
/* The summary: applications with their images below them. */
void report_summary_text(const struct report *r, FILE *out);
/* The header, if asked for, and the list of symbols or the summary, whichever the rows are. */
void report_text(const struct report *r, const struct losses *losses, FILE *out);
/* All rows and what the header says as one JSON object (man opreport-output.5). */
void report_json(const struct report *r, const struct losses *losses, FILE *out);
/* All rows as a table of comma-separated values (likewise). */
void report_csv(const struct report *r, const struct losses *losses, FILE *out);
/* All rows and what the header says as an XML document (likewise). */
void report_xml(const struct report *r, const struct losses *losses, FILE *out);
