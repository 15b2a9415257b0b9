/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tools that read a profile have in common: handlers of their options, for OPT_CALL, and
 * the session that is read where none is named.
 *
 *	{ 't', "threshold", OPT_CALL, &threshold, "PERCENT", "...", reporting_set_threshold },
 */
#pragma once

#include "base/error.h"

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

/* The user's symbol cache, or NULL where there is none or it cannot be had. */
struct symcache *reporting_open_cache(void);
/* Says in the debug log what the cache was good for, and closes it; NULL is fine. */
void reporting_close_cache(struct symcache *cache);
