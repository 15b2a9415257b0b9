/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One of the two profiles of a comparison: the words in its braces. Options that choose where the
 * profile is read from can be among them; all others apply to both profiles.
 *
 *	struct braces first = { .words = words, .count = count };
 *	if (braces_parse(&first, &cmdline, err) == 0)
 *		r = reporting_open(&first.profile, first.count, first.words, &p, err);
 *	braces_done(&first);
 */
#pragma once

#include "base/opt.h"
#include "profile/profile.h"
#include "profile/select/spec.h"

#include <stddef.h>

struct gather;

struct braces {
	struct profile_config
		profile;    /* for both profiles; parsing adds the options in the braces */
	char *const *words; /* all in the braces; after parsing the specification */
	size_t count;
	char *text;   /* all words, for messages */
	char **owned; /* the words in getopt's order */
};

/* Parses the words in the braces. @cmdline has the tool's options. 0, the caller calls
 * braces_done(); or -EINVAL with the reason. */
int braces_parse(struct braces *b, const struct opt_cmdline *cmdline, struct error *err);
/* The same for both pairs of braces, whose profiles begin as @both. The caller calls
 * braces_done() for each, also after an error. */
int braces_parse_pair(const struct spec_pair *pair, const struct profile_config *both,
		      const struct opt_cmdline *cmdline, struct braces ret[2], struct error *err);
/* Takes from @both again all that is for both profiles: reporting_confine() adds to it. */
void braces_renew(struct braces *b, const struct profile_config *both);
/* As reporting_become_owner(), for both profiles. */
int braces_become_owner(const struct braces sides[2], bool writes, struct error *err);
/* Warns if both braces select the same sample files. */
void braces_warn_same(const struct gather *a, const struct gather *b);
/* Frees all; a zeroed one is fine. */
void braces_done(struct braces *b);
