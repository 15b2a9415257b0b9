/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Explains why a specification selects nothing: which part of it rejected how many files, and what
 * these files have instead. Parts are tried in order, each on the files that the previous ones
 * accepted.
 *
 *	struct spec_explain n = { 0 };
 *	tag = spec_reject(spec, &name);
 *	spec_explain_note(&n, spec, tag, &name);		for each file, tag < 0: it is wanted
 *	return spec_explain_say(&n, spec, err);
 *	spec_explain_done(&n);
 */
#pragma once

#include "base/error.h"
#include "profile/select/spec.h"

struct sname;

enum { SPEC_EXPLAIN_SHOWN_MAX = 8 };

struct spec_explain_part {
	size_t rejected;		       /* files left out */
	char *present[SPEC_EXPLAIN_SHOWN_MAX]; /* their values, each once */
	size_t more;			       /* number of files with further values */
};

struct spec_explain {
	size_t files;
	struct spec_explain_part parts[SPEC_TAG_COUNT_];
};

/* Notes a file that @tag rejected; negative: none did. */
void spec_explain_note(struct spec_explain *n, const struct spec *spec, int tag,
		       const struct sname *name);
/* Sets the error: -ENODATA, with all that was noted. */
int spec_explain_say(const struct spec_explain *n, const struct spec *spec, struct error *err);
/* Warns of values that matched nothing although others of the same tag did. */
void spec_explain_warn_unused(const struct spec_explain *n, const struct spec *spec);
/* Frees what was noted. */
void spec_explain_done(struct spec_explain *n);
/* Sets the error that none of the sessions that @spec selects is in @session_dir, with the remedy;
 * returns it. */
int spec_explain_no_session(const struct spec *spec, const char *session_dir, struct error *err);
