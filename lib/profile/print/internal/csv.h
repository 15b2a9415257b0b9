/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fields and lines of comma-separated values (RFC 4180).
 *
 *	csv_text(&line, "/usr/bin/a");
 *	csv_number(&line, 7);
 *	csv_line_print(report, &line, stdout);
 */
#pragma once

#include "base/strbuf.h"

#include <stdint.h>
#include <stdio.h>

struct report;

/* Adds a field with its comma, in quotes if it contains a delimiter, and with an apostrophe before
 * what would be a formula. */
void csv_text(struct strbuf *line, const char *text);
/* A number, which is not the first field. */
void csv_number(struct strbuf *line, uint64_t value);
/* An address, "0x1f2e", which is not the first field. */
void csv_address(struct strbuf *line, uint64_t address);
/* Prints the line; to a terminal, without what it would obey. */
void csv_line_print(const struct report *r, const struct strbuf *line, FILE *out);
