/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the source files that debug information names, and reads their lines. Warns once of files
 * that are missing, and once of those that are newer than what was built from them.
 *
 *	struct sources *s = sources_new(root, "/home/me/src", "/build/pkg-1.2");
 *	char *path = sources_find(s, "/build/pkg-1.2/lib/a.c");	"/home/me/src/lib/a.c"
 *	struct sourcetext *t = path ? sourcetext_open(path, elffile_owner(ef)) : NULL;
 *	const char *text;
 *	size_t size;
 *	if (t && sourcetext_line(t, 7, &text, &size))
 *		printf("%.*s\n", (int)size, text);
 *	sourcetext_free(t);
 *	free(path);
 *	sources_free(s);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct sources;
struct sourcetext;

/* Looks for files below @root (NULL or "" for this machine), then in the comma list @search_dirs,
 * with prefixes from the comma list @base_dirs removed. Lists may be NULL. Caller frees. */
struct sources *sources_new(const char *root, const char *search_dirs, const char *base_dirs);
/* Looks below @root, too, if a file is not below the first root. */
void sources_add_root(struct sources *s, const char *root);
/* From now on, does not warn of files. */
void sources_be_quiet(struct sources *s);
/* Warns in one line of all files that were not found, and in one of those that are newer than what
 * was built from them. NULL is fine. */
void sources_free(struct sources *s);
DEFINE_CLEANUP(struct sources *, sources_free);

/* The readable file on this machine for @path, as compiled; caller frees. NULL if there is none.
 * Tried in order: @path below the roots, @path itself, and in each search directory @path without
 * the base directory, all of @path, the last part of it. */
char *sources_find(struct sources *s, const char *path);
/* Compares the source that was found as @found with a binary that was built from it at the time
 * @built, in seconds; 0: not known, or what the lines are of does not depend on it. Returns whether
 * it is newer, so that samples may be on the wrong lines; then there will be a warning. */
bool sources_compare(struct sources *s, const char *found, uint64_t built);

/* Opens the source @path for reading, which a binary of user @owner names. For root, only if that
 * user or everybody may read it: else a user could make root print any file. Caller closes; NULL
 * after a warning. */
FILE *sources_open(const char *path, uid_t owner);

/* Maps what sources_open() opens and finds its lines; NULL if it cannot be read. Caller frees. */
struct sourcetext *sourcetext_open(const char *path, uid_t owner);
/* NULL is fine. */
void sourcetext_free(struct sourcetext *t);
DEFINE_CLEANUP(struct sourcetext *, sourcetext_free);
/* Line @number, from 1, without its newline; false if there is none. Borrowed. */
bool sourcetext_line(const struct sourcetext *t, size_t number, const char **ret, size_t *ret_size);
/* A hash of the text of a line, by which it is found in another version of the source; blanks do
 * not matter. Its lower half is in files (man opsymbols.5). */
uint64_t source_line_hash(const char *text, size_t size);
