/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports of whole call chains, in the forms that opreport prints. The chains are collected and
 * named; @r has what names images, the threshold and the header's parts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct chains;
struct losses;
struct report;

enum chains_form {
	CHAINS_LIST,	/* the hottest chains, one function a line */
	CHAINS_FOLDED,	/* "app;outermost;...;innermost COUNT", for flame graphs */
	CHAINS_CHILDREN /* functions by the samples with them anywhere in the chain */
};

struct chains_view {
	enum chains_form form;
	size_t top; /* chains or functions shown at most; 0: all */
};

/* How many chains are complete, and why others are not: a line, or with r->quality a table. */
void report_chains_quality(const struct report *r, const struct chains *c, FILE *out);
/* The report itself, without header. */
void report_chains_text(const struct report *r, const struct chains *c,
			const struct chains_view *view, FILE *out);
/* All of it as one JSON object (man opreport.1). */
void report_chains_json(const struct report *r, const struct losses *losses, const struct chains *c,
			const struct chains_view *view, FILE *out);
