/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many call chains are complete, and where and why the others end: part of the header of
 * reports that use call chains.
 *
 *	if (report->chains)
 *		chains_quality_print(report, stdout);
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

struct chains;
struct report;
struct strbuf;

/* Adds the columns of samples and of their percentage of all chains: "123      12.3456 ",
 * in the unit of report_count(). */
void chains_add_counts(struct strbuf *line, const struct report *r, uint64_t samples);
/* Prints a line on the samples whose chains are not chosen, if there are any. */
void chains_unchosen_print(const struct report *r, FILE *out);
/* Prints one line on r->chains, or with r->view->quality a table of images. */
void chains_quality_print(const struct report *r, FILE *out);
