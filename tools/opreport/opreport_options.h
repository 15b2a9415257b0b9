/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of opreport: which of them can be combined, and what they mean for the view of the
 * profile that is reported.
 *
 *	static struct opreport_options options;		the option table's targets
 *	if (opreport_check(&options, err) < 0)
 *		return tool_usage("%s", err->text);
 */
#pragma once

#include "base/error.h"
#include "profile/profile_report.h"
#include "profile/rows/line_choice.h"
#include "tools/common/screen.h"

#include <stdbool.h>

struct opreport_options {
	struct report_view view;
	struct profile_config profile;
	bool chains, folded, children;
	bool json, csv, xml;
	bool reverse, all, no_symbol_cache, by_host;
	struct screen screen;
	bool perf_script;
	struct line_choice line; /* of --history-of; without a file if it has none */
	const char *output;
	const char *html;  /* the page to write, or NULL */
	const char *pprof; /* the profile for pprof to write, or NULL */
};

/* Whether the options can be combined. Sets the forms of the report, and what the view and the
 * profile need because of other options. 0, or -EINVAL with the conflict. */
int opreport_check(struct opreport_options *o, struct error *err);
/* The same for options that compare two profiles. */
int opreport_check_pair(const struct opreport_options *o, struct error *err);

/* Fits the report to @out, where it goes: on a terminal, people get the first rows and a pager.
 * Lets the profile leave out what they do not show. */
void opreport_fit(struct opreport_options *o, FILE *out);

/* @first and the words, with a blank between; caller frees. */
char *opreport_words(const char *first, size_t count, char *const *words);

/* The options as the XML form shows them; ends with a NULL name. @specification (NULL: none) is
 * borrowed, like the options; the list is static. */
const struct report_option *opreport_show(const struct opreport_options *o,
					  const char *specification);
