/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Directory trees that other users may change at any time, such as the session of another user.
 * Every step goes from one directory descriptor to the next. Links are never followed, other file
 * systems are never entered, and the number of descriptors does not grow with the depth. Only the
 * directory where a function starts, @at, is trusted.
 *
 *	int samples = dirtree_open(session, "samples", err);
 *	if (samples >= 0)
 *		r = dirtree_remove(samples, "current", err);
 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

struct strbuf;

/* What a walk visits: something in a directory, or the top itself. */
struct dirtree_visit {
	int directory;	  /* the directory that contains it; borrowed */
	const char *name; /* its name there, or for the top as given to dirtree_walk() */
	const char *path; /* that starts with the name of the top, for messages */
	struct stat st;	  /* of a link itself, not of its target */
	int error;	  /* -errno if it is a directory that could not be read, else 0 */
};

/* Opens the directory @path, which is relative to @at, without following links in it. Returns the
 * descriptor, caller closes; or -errno: -ENOTDIR or -ELOOP for a link, -EXDEV for a directory on
 * another file system. */
int dirtree_open(int at, const char *path, struct error *err);
/* Adds the names in the directory @fd, which was not read yet, to @names, each with its NUL,
 * without "." and "..". 0 or -errno; then some may be missing. */
int dirtree_names(int fd, struct strbuf *names);
/* The same for the directory @path, whose last part must not be a link. */
int dirtree_names_of(const char *path, struct strbuf *names);
/* The name at @at, which starts at 0 and moves to the next one; NULL after the last one. */
const char *dirtree_next_name(const struct strbuf *names, size_t *at);
/* Calls @each for @name and all that is below it, for a directory after its contents. Ends early if
 * @each does not return 0, and returns that; else 0, or -errno. The contents of directories on
 * other file systems are left out. What vanishes meanwhile is left out, too; -ENOENT if there is
 * no @name. */
int dirtree_walk(int at, const char *name,
		 int (*each)(const struct dirtree_visit *visit, void *data), void *data,
		 struct error *err);
/* Removes @name and everything below it. 0, also if there was none; or -errno. */
int dirtree_remove(int at, const char *name, struct error *err);
/* Removes the directory that is visited if it is empty. */
void dirtree_remove_empty(const struct dirtree_visit *visit);
/* Creates the missing parent directories of @path; 0 or -errno. */
int dirtree_make_parents(int at, const char *path, mode_t mode, struct error *err);
/* Renames @from to @to, both relative to @at. 0, or -errno: -EEXIST if @to exists. */
int dirtree_rename(int at, const char *from, const char *to, struct error *err);
