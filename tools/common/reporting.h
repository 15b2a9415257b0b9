/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the tools that read a profile: handlers of common options (OPT_CALL), and opening the
 * profile. The profile is the caller's.
 *
 *	static double threshold;
 *	static const struct opt opts[] = {
 *		{ 't', "threshold", OPT_CALL, &threshold, "PERCENT", "",
 *		  reporting_set_threshold },
 *		OPT_END
 *	};
 *	...
 *	if (reporting_open(&config, count, words, &p, err) == 0)
 *		profile_close(p);
 */
#pragma once

#include "base/error.h"

#include <stddef.h>

struct name_style;
struct profile;
struct profile_config;

/* Sets the double @target to a percentage from 0 to 100; 0 or -EINVAL. */
int reporting_set_threshold(const char *arg, void *target, struct error *err);
/* Sets the struct name_style @target to "none", "normal", "smart" or "short"; 0, -EINVAL, or the
 * error of reading the rules, which live as long as the tool. */
int reporting_set_demangle(const char *arg, void *target, struct error *err);
/* The option that reporting_set_demangle() was given for this style. */
const char *reporting_demangle(const struct name_style *style);
/* Adds the tag archive: to words that are files with a name in .opar, as oparchive --compact writes
 * them. The new words live as long as the tool. */
void reporting_tag_archives(size_t count, char **words);
/* The words, each quoted for a shell if that is needed; caller frees. */
char *reporting_shell_words(size_t count, char *const *words);
/* Adds a comma list of symbols to the struct symbol_list @target; 0. */
int reporting_set_symbols(const char *arg, void *target, struct error *err);

/* --debuginfod: sets the struct fetch_config @target; @arg is the percentage, or NULL for 1. 0 or
 * -EINVAL. */
int reporting_set_debuginfod(const char *arg, void *target, struct error *err);

/* Rows of a tool's table of options: which session, and where its images are, in @config. */
#define REPORTING_SESSION_DIR(config)                                                              \
	{                                                                                          \
		0, "session-dir", OPT_PATH, &(config).session_dir, "DIR",                          \
			"the session directory (default: ./oprofile_data, else /var/lib/oprofile)" \
	}
#define REPORTING_IMAGE_PATH(config)                                                               \
	{                                                                                          \
		'p', "image-path", OPT_STRING, &(config).binaries.image_paths, "DIR,...",          \
			"look for images, modules and debug files in these directories too"        \
	}
#define REPORTING_ROOT(config)                                                                     \
	{                                                                                          \
		'R', "root", OPT_STRING, &(config).binaries.root, "DIR", "images are below DIR"    \
	}

/* The row for --no-symbol-cache, which sets the bool @target. */
#define REPORTING_NO_SYMBOL_CACHE(target)                                                          \
	{                                                                                          \
		0, "no-symbol-cache", OPT_FLAG, &(target), NULL,                                   \
			"neither use nor fill the cache of symbols"                                \
	}

/* The row for --demangle, which sets the struct name_style @target. */
#define REPORTING_DEMANGLE(target)                                                                 \
	{                                                                                          \
		'D', "demangle", OPT_CALL, &(target), "KIND",                                      \
			"none, normal (default), smart (leaves out default arguments and the "     \
			"like) or short (also parameters and template arguments)",                 \
			reporting_set_demangle                                                     \
	}

/* The row of a tool's table of options for the limit of compact archives, in @config. */
#define REPORTING_MAX_SIZE(config)                                                                 \
	{                                                                                          \
		0, "max-size", OPT_SIZE, &(config).max_size, "SIZE",                               \
			"unpack compact archives of up to SIZE (default: 64 times their own)",     \
	}

/* As root, takes on the rights of the owner of what @config and @words name, sessions or archives,
 * to read it; of the first one, if there are several that are not root's. With @writes, output is
 * still written by root (owner.h). Call it before reporting_confine(). 0 or -errno. */
int reporting_become_owner(const struct profile_config *config, bool writes, char *const *words,
			   struct error *err);
/* Adds to @config what the environment says, and confines the rest of the tool if that is wanted
 * (tools/common/confine.h). Call it before the profile is opened. @output is a directory to write
 * to, or NULL; @words are the command line, or NULL if temporary files are needed whatever it says.
 * 0 in the child, or if nothing is confined; 1 in the parent at the end, with the tool's status in
 * *@ret; or -errno. */
int reporting_confine(struct profile_config *config, const char *output, char *const *words,
		      int *ret, struct error *err);
/* The directory that contains the file @path; NULL if there is none. Caller frees. */
char *reporting_parent(const char *path);
/* Opens the profile that the operands of the command line select, as profile_open(). Missing files
 * are also fetched if $OPROFILE_DEBUGINFOD (a percentage) is set, with progress on a terminal.
 * If root lacks rights because of reporting_become_owner(), the error says so. Prints a line on
 * stderr if oprofiled's session directory is used by default; on a terminal, also if that of the
 * current directory is and it is old. */
int reporting_open(const struct profile_config *config, size_t count, char *const *words,
		   struct profile **ret, struct error *err);
/* As profile_binaries(), with the progress on a terminal. */
struct binaries *reporting_binaries(const struct profile *p, const struct profile_config *config);
