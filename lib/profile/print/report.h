/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the formatters (text, CSV, JSON, XML) print: named rows, and the view of them that the user
 * requested. Formatters only read it; all of it is borrowed.
 *
 *	struct report_view view = { .rows = { .symbols = true } };
 *	struct report report = { .view = &view, .gather = g, .classes = classes, .container = c };
 *	report_text(&report, stdout);
 */
#pragma once

#include "profile/select/classes.h"
#include "profile/rows/chains.h"
#include "profile/rows/container.h"
#include "profile/rows/diff.h"
#include "profile/rows/populate.h"
#include "profile/select/gather.h"
#include "profile/rows/sort.h"
#include "profile/rows/timeline.h"
#include "profile/select/symfilter.h"
#include "symbol/smartname.h"
#include "sfile/sfile.h"

#include <stdbool.h>
#include <stdio.h>

struct callgraph;
struct chains;
struct losses;
struct strbuf;
struct trend;
struct unresolved;

/* The first of two profiles that are compared, for the header. */
struct report_before {
	const char *words[2]; /* the specifications of both */
	const struct gather *gather;
	const struct losses *losses;
	size_t skipped;
	bool is_annotated; /* lines are compared, without the column "diff %" */
};

/* An option given for the report, as the XML form shows it. */
struct report_option {
	const char *name, *value; /* NULL value: not given */
};

/* Forms of a report. */
enum report_form {
	REPORT_TEXT,
	REPORT_JSON,
	REPORT_CSV,
	REPORT_XML,
	REPORT_HTML,   /* a page for a browser */
	REPORT_DATA,   /* the data of such a page alone */
	REPORT_SECOND, /* what a page has of the profile that it compares its own with */
	REPORT_FILES,  /* the source files of functions, for a page that is served */
	REPORT_PPROF,
	REPORT_PERF, /* as perf script prints samples */
	REPORT_FORM_COUNT_
};

/* How whole call chains are reported. */
enum chains_form {
	CHAINS_NONE,	/* no chains: the report is of images or symbols */
	CHAINS_LIST,	/* the hottest chains, one function per line */
	CHAINS_FOLDED,	/* "app;outermost;...;innermost COUNT", for flame graphs */
	CHAINS_CHILDREN /* functions by the samples with them anywhere in the chain */
};

/* What a user requested. Zero is a summary by image, as text. */
struct report_view {
	enum report_form form;
	enum chains_form chains;
	enum chains_outer outer;     /* of folded stacks */
	bool by_host;		     /* samples for pprof are divided by host, too */
	struct populate_config rows; /* contents of the rows */
	bool native;		     /* interpreted functions count for the interpreter's */
	bool calls;		     /* callers and callees of each symbol, too */
	bool quality;		     /* where and why call chains end, too */
	struct chain_choice chosen;  /* only these symbols and chains */
	struct name_style names;
	bool compares;		 /* two profiles */
	enum diff_by compare_by; /* if so */
	struct sort sort;
	enum timeline_by timeline; /* rows of times; else TIMELINE_NONE */
	bool trend;		   /* how the share of ->chosen.symbols changed with time */
	bool utf8;		   /* with it: bars may be block elements of Unicode */
	double threshold;	   /* in percent: rows below are left out */
	uint64_t top;		   /* if not 0: rows after so many are left out */
	bool top_is_default;	   /* --top was not given: the report says how to see all */
	unsigned int decimals;	   /* of percentages; 0: the digits of OProfile 1.x */
	bool no_header;		   /* rows only */
	bool long_names;	   /* paths instead of their last parts */
	bool show_address;	   /* a column of addresses */
	bool accumulated;	   /* columns of running sums */
	bool errors;		   /* columns of the 95 % confidence interval of each share */
	bool global_percent;	   /* of the total instead of the application or symbol */
	bool colour;		   /* use escape sequences for colours */
	bool terminal;		   /* output is a terminal: send nothing that it would obey */
	unsigned int width;	   /* of the terminal, which names are cut to fit; 0: not cut */
	const char *command;	   /* the command line, for XML */
	char *const *events; /* for pages: keys of all events, if there are several, NULL last; */
	const char *event;   /* and of the one that is shown */
	bool has_second;     /* for pages: there is a second profile to compare with */
	const char *second;  /* what a page as a file has of it (REPORT_SECOND); or NULL */
	const char *other_events;    /* the same of the other ->events, in their order, separated by
				   * blanks; or NULL */
	size_t seconds;		     /* how many such data the page has; 0: one */
	char *const *other_sessions; /* for pages: those to compare with, NULL last; or NULL */
	size_t more_sessions;	     /* for pages: how many are not among them */
	const char *no_chains;	     /* for pages: why call chains cannot be read; or NULL */
	bool apps_only;		     /* for page data of chains: only their applications */
	const struct report_option *options; /* for XML; ends with a NULL name */
};

/* Source and instructions of a function, for a page. */
struct report_source {
	char *key;  /* "0x116e//usr/bin/true": its address and image */
	char *json; /* see profile/annotate/annotate_json.h */
};

/* What is printed; all is borrowed. */
struct report {
	const struct report_view *view;
	const struct gather *gather;
	const struct classes *classes;
	const struct container *container;
	const struct callgraph *calls; /* between the rows; NULL unless view->calls */
	const struct chains *chains;   /* to report, or for their quality in the header; or NULL */
	const struct timeline *timeline;     /* if requested, else NULL */
	const struct trend *trend;	     /* the same */
	const struct report_before *before;  /* if two profiles are compared, else NULL */
	const struct unresolved *unresolved; /* samples without a symbol, or NULL */
	const struct losses *losses;
	struct sfile_header header; /* of a sample file: CPU type and speed */
	uint64_t timer_hz;	    /* samples per second per CPU in timer mode; 0: unknown */
	uint64_t wander;	    /* by so many percent periods wander; 0: not, or unknown */
	size_t skipped;		    /* sample files that could not be read */
	const struct report_source *sources; /* of the hottest functions, these first */
	size_t source_count;
	size_t files, gone; /* binaries, and those of them that are gone; see binaries_count() */
};

/* The name of image number @image in the report: its path, or the last part of it. */
const char *report_image(const struct report *r, uint32_t image);
/* Whether the rows have more than one application, so that a column for it is useful. */
bool report_has_apps(const struct report *r);

/* Adds the name of the row's symbol, or the text for its kind, shortened to @room characters if
 * that is not 0; " (inlined)" follows the name of an inlined function. */
void report_add_name(struct strbuf *out, const struct row *row, unsigned int room);

/* The share that a row had in the first of two profiles, in per cent. */
double report_share_before(const struct container *c, const struct row *row, size_t class);
/* By how many percentage points its share grew. */
double report_points(const struct container *c, const struct row *row, size_t class);
/* Adds percentage points, with their sign. */
void report_add_points(struct strbuf *out, const struct report *r, double points);
/* Adds how a row changed that two profiles are compared by, and a mark if that may be chance. */
void report_add_difference(struct strbuf *out, const struct report *r, const struct container *c,
			   const struct row *row, size_t class);

enum { REPORT_DECIMALS_MAX = 4 };

/* A percentage in seven characters: "62.2916", "100.000", "      0", "3.4e-06" or, if @decimals is
 * neither 0 nor REPORT_DECIMALS_MAX, "  62.29", " 100.00", "   0.00", "  <0.01". */
void report_percent(unsigned int decimals, double percent, char text[16]);
/* The same for a note below the rows: without blanks, and with four decimals for scripts. */
void report_note_percent(const struct report_view *view, double percent, char text[16]);
/* How a note on the rows after view->top ends: ")\n", or first the option that shows them. */
const char *report_all_hint(const struct report_view *view);

enum { REPORT_COUNT_MAX = 24 }; /* characters of a count, with a NUL */

/* The numbers of blocks that the noise of a profile of the report is measured between. */
struct container_measured report_measured(const struct report *r, const struct container *c);
/* Whether the class counts time off the CPU: a sample is a microsecond. */
bool report_is_time(const struct report *r, size_t class);
/* The unit of a class's counts as text: "samples", or "ms" for time off the CPU. */
const char *report_unit(const struct report *r, size_t class);
/* The same of a class that is known to be of time, or not to be. */
const char *report_unit_of(bool is_time);
/* A count in that unit: "4711", or "4.711" for as many microseconds; with so many @decimals, unless
 * that is 0. */
void report_value(bool is_time, unsigned int decimals, uint64_t count, char text[REPORT_COUNT_MAX]);
/* The same of a class, as the view has it: "4.71" on a terminal. */
void report_count(const struct report *r, size_t class, uint64_t count,
		  char text[REPORT_COUNT_MAX]);
/* The same in a sentence: "4711 samples", "1 sample", "4.711 ms". */
void report_count_noun(const struct report *r, size_t class, uint64_t count,
		       char text[REPORT_COUNT_MAX + 8]);

/* The escape sequence that highlights a large share, NULL for a small one; and what ends it. */
const char *report_colour(double percent);
extern const char report_colour_end[];

/* The name of a class cut to @width characters: in the middle, so that the part that
 * distinguishes it stays. @text has room for @width + 1. */
void report_class_name(const struct report *r, size_t class, size_t width, char *text);

/* Prints a block for each function, with its callers above it and its callees below. */
void report_calls_text(const struct report *r, FILE *out);
/* Prints the summary: applications with their images below them. */
void report_summary_text(const struct report *r, FILE *out);
/* Prints the header, if requested, and then the calls, the symbols or the summary. */
void report_text(const struct report *r, FILE *out);
/* Prints all rows and the facts of the header as one JSON object (man opreport-output.5). */
void report_json(const struct report *r, FILE *out);
/* Prints all rows as a table of comma-separated values (man opreport-output.5). */
void report_csv(const struct report *r, FILE *out);
/* The same for the timeline, if view->timeline. */
void report_timeline_text(const struct report *r, FILE *out);
void report_timeline_json(const struct report *r, FILE *out);
void report_timeline_csv(const struct report *r, FILE *out);
/* The same for the trend, if view->trend. */
void report_trend_text(const struct report *r, FILE *out);
void report_trend_json(const struct report *r, FILE *out);
void report_trend_csv(const struct report *r, FILE *out);
