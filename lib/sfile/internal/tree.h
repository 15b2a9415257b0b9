/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The entries of a directory and of all below it, read by all CPUs: a session has more directories
 * than files. It owns all that it points at.
 *
 *	struct tree *t = tree_read(samples, is_wanted);
 *	for (i = 0; i < t->count; i++)
 *		puts(t->entries[i].name);
 *	tree_free(t);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>

struct tree_entry {
	char *name;
	bool is_directory;
	struct tree *below; /* of a directory; NULL where it was not read */
};

struct tree {
	struct tree_entry *entries; /* in order of name */
	size_t count;
	int error; /* why it could not be read, negative; 0: it could */
	char *path;
};

/* Reads the entries of one directory. Caller frees. */
struct tree *tree_read_one(const char *path);
/* Reads the directory and all below it; of those that stand in it itself only the ones that @wants
 * wants (NULL: all). Caller frees. */
struct tree *tree_read(const char *path, bool (*wants)(const char *name));
/* Frees all; NULL is fine. */
void tree_free(struct tree *t);
DEFINE_CLEANUP(struct tree *, tree_free);
