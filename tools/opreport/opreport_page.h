/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page of one profile, or of two that it compares (opreport --html). What is collected borrows
 * the options and the braces.
 *
 *	struct opreport_page page = { 0 };
 *	if (opreport_page_collect(&options, sides, 2, &page, err) == 0)
 *		opreport_page_print(&page, file);
 *	opreport_page_done(&page);
 */
#pragma once

#include "tools/common/braces.h"
#include "tools/common/page_events.h"
#include "tools/common/page_report.h"
#include "tools/common/page_sources.h"
#include "tools/opreport/opreport_options.h"

#include <stddef.h>
#include <stdio.h>

/* A profile of the page. */
struct opreport_page_side {
	struct opreport_options options; /* its own */
	struct page_report page;
	char *words; /* of its specification, for a shell */
};

struct opreport_page {
	struct opreport_page_side sides[2];
	size_t count;
	struct page_events events;	   /* of the profile, if it is one */
	struct opreport_page_side *others; /* the other events, in the order of the keys */
	size_t other_count;
	char **chosen; /* the words of the event that is shown; NULL: those of the braces */
	struct page_sources sources; /* of the first profile */
};

/* Collects @count profiles, the second one to compare the first one with. @ret is not to be moved;
 * the caller calls opreport_page_done(), also after an error. 0 or -errno. */
int opreport_page_collect(const struct opreport_options *o, const struct braces *sides,
			  size_t count, struct opreport_page *ret, struct error *err);
/* Prints the page. */
void opreport_page_print(struct opreport_page *p, FILE *out);
/* Frees what was collected; a zeroed one is fine. */
void opreport_page_done(struct opreport_page *p);
