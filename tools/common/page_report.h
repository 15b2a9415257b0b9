/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a page for a browser shows (profile/page/page.h): whole call chains or, if there are none,
 * rows by symbol; with the time of the samples, where all of them have one.
 *
 *	struct report_view view = { .form = REPORT_DATA, .rows = { .symbols = true } };
 *	struct page_report page;
 *
 *	if (page_report_collect(&config, &view, count, words, &page, err) == 0)
 *		profile_report_print(&page.report, stdout);
 *	page_report_done(&page);
 */
#pragma once

#include "profile/profile_report.h"

struct page_report {
	struct profile *profile;
	struct profile_report report;
	char *no_chains; /* why it has no call chains, although some were recorded; or NULL */
};

/* Opens the profile that the words select, and collects its rows. Sets view->chains to what was
 * found, and view->no_chains; the view is borrowed. Warns of call chains that cannot be read.
 * 0, the caller calls page_report_done(); or negative with the reason, -EINVAL if the samples are
 * of several events. */
int page_report_collect(const struct profile_config *config, struct report_view *view, size_t count,
			char *const *words, struct page_report *ret, struct error *err);
/* The same without call chains: always rows by symbol. */
int page_report_collect_rows(const struct profile_config *config, struct report_view *view,
			     size_t count, char *const *words, struct page_report *ret,
			     struct error *err);
/* Whether all samples are of one event; if not, only one of the events has call chains. */
bool page_report_has_one_event(const struct page_report *p);
/* Frees what was collected; a zeroed one is fine. */
void page_report_done(struct page_report *p);
