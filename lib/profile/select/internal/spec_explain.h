/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a specification leaves nothing: which part of it left out how many files, and what these have
 * instead. Parts are tried one after the other, so that each says something of what the parts
 *before it left.
 *
 *	struct nomatch n = { 0 };
 *	tag = spec_reject(spec, &name);
 *	nomatch_note(&n, tag, &name);		for each file, tag < 0: it is wanted
 *	return nomatch_say(&n, spec, err);
 *	nomatch_done(&n);
 */
#pragma once

#include "base/error.h"
#include "profile/select/spec.h"

struct sname;

enum { NOMATCH_SHOWN_MAX = 8 };

struct nomatch_part {
	size_t rejected;		  /* files left out */
	char *present[NOMATCH_SHOWN_MAX]; /* what they have, each once */
	size_t more;			  /* files that have what did not fit */
};

struct nomatch {
	size_t files;
	struct nomatch_part parts[SPEC_TAG_COUNT_];
};

/* Notes a file that @tag left out, a negative one if none did. */
void nomatch_note(struct nomatch *n, int tag, const struct sname *name);
/* Sets the error: -ENODATA, with all that was noted. */
int nomatch_say(const struct nomatch *n, const struct spec *spec, struct error *err);
/* Warns of values that matched nothing where others of the same tag did. */
void nomatch_warn_unused(const struct nomatch *n, const struct spec *spec);
/* Frees what was noted. */
void nomatch_done(struct nomatch *n);
