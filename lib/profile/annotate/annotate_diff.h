/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Annotated sources and assembly of two profiles: each line and each instruction with its samples
 * in both. Shares are compared as opreport compares those of functions (rows/diff.h).
 *
 *	struct annotate_diff *d = NULL;
 *	if (annotate_diff_new(sides, &config, &d, err) == 0) {
 *		annotate_diff_heading(d, command_line, meaning, &text);
 *		annotate_diff_text(d);
 *	}
 *	annotate_diff_free(d);
 *
 * Functions correspond as in opreport. If both profiles are of one build of an image, lines and
 * addresses are the same. Instructions of two builds correspond if they have the same text except
 * for addresses, in the longest sequence that both functions have, and at least two in a row.
 * Lines of two builds correspond if they have the same text, if two versions of the source are
 * there. If only one is there, they do if most of their instructions correspond, or if they are as
 * far from a line before and from one after them that do. What has no counterpart by these rules
 * is shown as not comparable.
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "profile/annotate/annotate_side.h"

struct annotate_diff;
struct strbuf;

/* Matches and compares the two profiles. All is borrowed. 0, caller frees; or -EINVAL if the
 * columns of the profiles differ. */
int annotate_diff_new(const struct annotate_diff_side sides[2],
		      const struct annotate_diff_config *config, struct annotate_diff **ret,
		      struct error *err);
/* NULL is fine. */
void annotate_diff_free(struct annotate_diff *d);
DEFINE_CLEANUP(struct annotate_diff *, annotate_diff_free);

/* Adds the heading: the command line, its meaning, CPU, events and losses, and what is compared. */
void annotate_diff_heading(const struct annotate_diff *d, const char *command_line,
			   const char *meaning, struct strbuf *out);
/* Prints what is shown as text, what changed most first, and what is not shown. Once, and not after
 * annotate_diff_json(). */
void annotate_diff_text(struct annotate_diff *d);
/* Prints all, sources and code, as one JSON object (man opreport-output.5). Once. */
void annotate_diff_json(struct annotate_diff *d);
