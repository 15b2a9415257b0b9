/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of the header of a report (report_header.h), for people.
 */
#pragma once

#include "profile/print/session_facts.h"

#include <stdio.h>

struct gather;
struct loss;
struct report;

/* Prints a share as a percentage, never with an exponent. */
void header_percent(const char *before, double share, const char *after, FILE *out);
/* Prints a line about a loss; @all is the samples that there would be without losses. */
void header_loss(const struct loss *loss, double all, FILE *out);
/* Prints a line, after @before, about each session of which these facts are known. @g may be
 * NULL. */
void header_facts(const struct gather *g, enum session_facts which, const char *before, FILE *out);
/* Prints a line, after @before, if other sessions have samples of the window, too. @g may be
 * NULL. */
void header_others(const struct gather *g, const char *before, FILE *out);
/* Prints which two profiles are compared and how. */
void header_comparison(const struct report *r, FILE *out);
