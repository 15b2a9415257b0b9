/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports as XML documents in the schema of OProfile 1.x (man opreport-output.5).
 *
 *	report_xml(&report, stdout);
 */
#pragma once

#include <stdio.h>

struct report;

/* Prints all rows and the facts of the header. */
void report_xml(const struct report *r, FILE *out);
