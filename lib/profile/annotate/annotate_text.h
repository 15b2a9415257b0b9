/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts shared by annotated sources and assembly: the columns before a line, comments with sums,
 * the heading and the rest.
 *
 *	annotate_prefix(a, counts, &line);		"  1729  2.9259 :"
 */
#pragma once

#include "profile/annotate/annotate.h"

struct losses;

/* Adds the columns before each line; NULL @counts, or all of them 0, leaves them blank.
 */
void annotate_prefix(const struct annotate *a, const uint64_t *counts, struct strbuf *out);
/* Adds the numbers of own samples alone: "  1729  2.9259", with two blanks between classes; of time
 * off the CPU, milliseconds. */
void annotate_numbers(const struct annotate *a, const uint64_t *counts, struct strbuf *out);
/* What the counts are, in words: "samples", or "milliseconds off the CPU" if all are that. */
const char *annotate_unit(const struct annotate *a);
/* Adds @name and its sums as a C comment: of the function or, if @is_inlined, of its inlined
 * code. */
void annotate_symbol_total(const struct annotate *a, const char *name, bool is_inlined,
			   const uint64_t *counts, struct strbuf *out);
/* Adds @text as a C comment, each of its lines after " * ". */
void annotate_comment(const char *text, struct strbuf *out);
/* Adds the heading: the command line, its meaning, CPU, events and losses. */
void annotate_heading(const struct annotate *a, const struct losses *l, const char *command_line,
		      const char *meaning, struct strbuf *out);
/* The same with the header of a report. */
void annotate_report_heading(const struct report *r, const char *command_line, const char *meaning,
			     struct strbuf *out);
/* Adds a comment that lists the rest; nothing if there is none. */
void annotate_rest_text(const struct annotate *a, struct strbuf *out);
