/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What opreport was asked for: its options, which of them go together, and how they are told again.
 *
 *	static struct opreport_options options;		the option table's targets
 *	if (opreport_check(&options, err) < 0)
 *		return tool_usage("%s", err->text);
 */
#pragma once

#include "base/error.h"
#include "symbol/smartname.h"
#include "profile/rows/diff.h"
#include "profile/print/report.h"
#include "profile/rows/sort.h"
#include "profile/select/symfilter.h"
#include "tools/common/reporting.h"

#include <stdbool.h>
#include <stdint.h>

struct opreport_options {
	bool symbols, calls, details, lines, inlines;
	bool wide, long_names, show_address, no_header, accumulated, global_percent;
	bool exclude_dependent, reverse;
	bool chains, folded, children, quality;
	bool json, csv, xml;
	enum report_form form; /* which of these */
	struct name_style names;
	unsigned int merge; /* enum classes_merge */
	double threshold;   /* percent */
	uint64_t top;
	bool errors;
	enum diff_by compare_by;
	struct symbol_filter chosen;
	struct sort sort;
	struct reporting_fetch fetch;
	const char *session_dir, *image_path, *root, *output;
	bool no_symbol_cache;
	char *command; /* the whole command line */
};

/* Whether they go together, with the form of the report set. 0, or -EINVAL with what does not. */
int opreport_check(struct opreport_options *o, struct error *err);
/* Likewise where two profiles are to be compared. */
int opreport_check_pair(const struct opreport_options *o, struct error *err);
/* Whether the report is one of whole call chains. */
bool opreport_of_chains(const struct opreport_options *o);

/* @first and the words, with a blank between; caller frees. */
char *opreport_words(const char *first, int count, char *const *words);

/* The options as the XML form shows them; zero at first. */
struct opreport_shown {
	char *words; /* of the specification */
	char threshold[32];
	struct report_option list[16]; /* ends with a NULL name */
};

/* Lists what was asked for, with the words of the specification. @o is borrowed. */
void opreport_show(const struct opreport_options *o, struct opreport_shown *ret, int count,
		   char *const *words);
void opreport_shown_done(struct opreport_shown *s);
