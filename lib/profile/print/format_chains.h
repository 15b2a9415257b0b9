/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports of whole call chains in the forms that opreport prints.
 *
 *	chains_collect(&chains, binaries, err);
 *	chains_name(&chains, &style);
 *	report.chains = &chains;
 *	report.container = &chains.rows;
 *	report_chains_text(&report, stdout);
 */
#pragma once

#include <stdio.h>

struct report;

/* Prints r->chains as r->view->chains says, with the header unless they are folded. */
void report_chains_text(const struct report *r, FILE *out);
/* Prints them as comma-separated values (man opreport-output.5): functions for --children,
 * else stacks. */
void report_chains_csv(const struct report *r, FILE *out);
/* Prints them as one JSON object (man opreport-output.5). */
void report_chains_json(const struct report *r, FILE *out);
/* Prints them as a profile for pprof, compressed: samples of the chains as --folded has them, with
 * the functions' addresses and the build-ids of their images (man opreport-output.5). */
void report_chains_pprof(const struct report *r, FILE *out);
/* Prints them as perf script(1) prints samples: a record for each, with the frames of its stack in
 * --folded (man opreport-output.5). */
void report_chains_perf(const struct report *r, FILE *out);
