/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tools that read a profile have in common: handlers of their options, for OPT_CALL, and
 * the session that is read where none is named.
 *
 *	static double threshold;
 *	static const struct opt opts[] = {
 *		{ 't', "threshold", OPT_CALL, &threshold, "PERCENT", "",
 *		  reporting_set_threshold },
 *		OPT_END
 *	};
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

struct binaries;
struct gather;
struct spec;
struct symcache;

/* Sets the double @target to a percentage from 0 to 100; 0 or -EINVAL. */
int reporting_set_threshold(const char *arg, void *target, struct error *err);
/* Sets the struct name_style @target to "none", "normal" or "smart"; 0, -EINVAL, or the error of
 * reading the rules, which live as long as the tool. */
int reporting_set_demangle(const char *arg, void *target, struct error *err);
/* Adds a comma list of symbols to the struct symbol_list @target; 0. */
int reporting_set_symbols(const char *arg, void *target, struct error *err);
/* Shows the libraries' debug lines on stderr, whatever @arg says; 0. */
int reporting_set_verbose(const char *arg, void *target, struct error *err);

/* The session directory: @given, or ./oprofile_data, or /var/lib/oprofile, which is said on stderr
 * unless @spec names an archive; borrowed. */
const char *reporting_session_dir(const char *given, const struct spec *spec);

/* --debuginfod: whether and for which images to ask. */
struct reporting_fetch {
	bool wanted;
	double percent; /* of the samples that an image must have */
};

/* Sets the struct reporting_fetch @target: @arg is the percentage, or NULL for 1; 0 or -EINVAL. */
int reporting_set_debuginfod(const char *arg, void *target, struct error *err);
/* Fetches what is wanted, or what $OPROFILE_DEBUGINFOD (a percentage) wants, with progress on a
 * terminal, and hands it to @bs. What fails is warned of once. */
void reporting_fetch(const struct reporting_fetch *how, const struct gather *g,
		     struct binaries *bs);

/* The user's symbol cache, or NULL where there is none or it cannot be had. */
struct symcache *reporting_open_cache(void);
/* Says in the debug log what the cache was good for, and closes it; NULL is fine. */
void reporting_close_cache(struct symcache *cache);
