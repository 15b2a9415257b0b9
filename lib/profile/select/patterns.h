/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list of names or shell patterns from an option: "main,std::*,operator\,". A name that is
 * literally in the list always matches, even if its brackets would mean something in a pattern.
 *
 *	struct patterns p = { 0 };
 *	patterns_add(&p, "*.h,msort.c");
 *	if (patterns_match_path(&p, path))
 *		...
 *	patterns_done(&p);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct patterns {
	char **list;
	size_t count, room;
};

/* Adds the parts of a comma list; a comma after a backslash is part of the name. */
void patterns_add(struct patterns *p, const char *text);
/* Whether one of the list is @path or matches it, see pattern_match_path(). */
bool patterns_match_path(const struct patterns *p, const char *path);
/* Whether @name is equal to the pattern, or matches it. */
bool pattern_match(const char *pattern, const char *name);
/* As pattern_match(); a pattern without a slash is matched with the last part of @path. */
bool pattern_match_path(const char *pattern, const char *path);
/* Frees the list. */
void patterns_done(struct patterns *p);
