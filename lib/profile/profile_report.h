/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports of a profile: collects its rows (images, symbols, callers and callees, or whole call
 * chains), compares them with those of another profile if asked to, and prints them in one of the
 * forms of report.h.
 *
 *	struct report_view view = { .rows = { .symbols = true } };
 *	struct profile_config config = { 0 };
 *	struct profile_report report;
 *
 *	profile_report_configure(&view, &config);
 *	r = profile_open(&config, count, words, &p, err);
 *	if (r == 0)
 *		r = profile_report_collect(p, &view, &report, err);
 *	if (r == 0)
 *		profile_report_print(&report, stdout);
 *	profile_report_done(&report);
 */
#pragma once

#include "profile/print/report.h"
#include "profile/profile.h"
#include "profile/rows/callgraph.h"
#include "profile/rows/populate.h"

/* A profile as rows; borrows the profile and the view. */
struct profile_report {
	struct profile *profile;
	const struct report_view *view;
	struct container rows;
	struct callgraph calls;
	struct populate_stats stats;
	const struct profile_report *before; /* what it is compared with, or NULL */
	const struct report_source *sources; /* for a page, set by the caller; borrowed */
	size_t source_count;
	const char *words[2]; /* with ->before: the specifications of both, for the header */
};

struct report_form_info {
	const char *name;
	bool is_for_programs; /* complete: any number of classes along any axes, whole paths */
	void (*print)(const struct report *r, FILE *out);
	void (*print_chains)(const struct report *r,
			     FILE *out); /* NULL: chains have no such form */
	void (*print_timeline)(const struct report *r, FILE *out); /* the same for timelines */
	void (*print_trend)(const struct report *r, FILE *out);	   /* and for trends */
	/* Chains are reported with the time of their samples, in so many steps; 0: without it. */
	uint32_t chain_steps;
	bool has_places; /* where functions begin in the source is looked up */
	bool has_tasks;	 /* chains are divided by what their samples are separated by */
};

/* The properties of a form. */
const struct report_form_info *report_form(enum report_form form);

/* Sets in @config what the view needs of a profile; keeps the user's choices. */
void profile_report_configure(const struct report_view *view, struct profile_config *config);
/* Once it is known how many rows are shown: if these are the symbols with the most samples, lets
 * the profile leave out images that have none of them. Others count as rows beyond these. */
void profile_report_narrow(const struct report_view *view, struct profile_config *config);

/* Collects the rows of @p. 0, the caller calls profile_report_done(); or negative with the reason,
 * -ENODATA if there are no samples. */
int profile_report_collect(struct profile *p, const struct report_view *view,
			   struct profile_report *ret, struct error *err);
/* Frees the rows; a zeroed report is fine. */
void profile_report_done(struct profile_report *r);

/* Makes @second show its differences to @first, which must outlive it. 0, or -EINVAL if their
 * columns differ. */
int profile_report_compare(struct profile_report *first, struct profile_report *second,
			   struct error *err);

/* Cuts, names and sorts the rows, and prints them; once. */
void profile_report_print(struct profile_report *r, FILE *out);
