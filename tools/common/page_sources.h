/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source and instructions of the hottest functions of a profile, for a page that is one file.
 *
 *	struct page_sources s = { 0 };
 *	if (page_sources_collect(&config, &words, &page, &s, err) == 0)
 *		profile_report_print(&page.report, stdout);
 *	page_sources_done(&s);
 */
#pragma once

#include "base/error.h"

#include <stddef.h>

struct page_report;
struct profile_config;
struct report_source;

struct page_sources {
	struct report_source *list;
	size_t count;
};

/* The words of a specification. */
struct page_words {
	size_t count;
	char *const *list;
};

/* Reads the code of the hottest functions of @page, which the words selected, and makes it part of
 * its report. 0 or -errno; the caller calls page_sources_done() after the report was printed. */
int page_sources_collect(const struct profile_config *config, const struct page_words *words,
			 struct page_report *page, struct page_sources *ret, struct error *err);
void page_sources_done(struct page_sources *s);
