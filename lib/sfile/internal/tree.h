/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a directory tree into memory, using all CPUs, because a session has more directories than
 * files. Directories are opened below a descriptor, without following links (dirtree.h). A struct
 * tree owns everything it points to.
 *
 *	struct tree *t = tree_read(samples_fd, is_wanted);
 *	for (i = 0; i < t->count; i++)
 *		puts(t->entries[i].name);
 *	tree_free(t);
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>

enum tree_kind {
	TREE_FILE, /* a regular file */
	TREE_DIRECTORY,
	TREE_OTHER /* a link, FIFO, socket or device, which no reader may open */
};

struct tree_entry {
	char *name;
	enum tree_kind kind;
	struct tree *below; /* contents of a directory; NULL if it was not read */
};

struct tree {
	struct tree_entry *entries; /* sorted by name */
	size_t count;
	int error;  /* -errno if the directory could not be read, else 0 */
	char *path; /* below the top */
};

/* Reads the entries of the directory @path below the directory @top, without its subdirectories.
 * Caller frees. */
struct tree *tree_read_one(int top, const char *path);
/* Reads the directory @top and everything below it. Of its direct subdirectories, reads only those
 * for which @wants returns true (NULL: all). Caller frees. */
struct tree *tree_read(int top, bool (*wants)(const char *name));
/* Frees the whole tree; NULL is fine. */
void tree_free(struct tree *t);
DEFINE_CLEANUP(struct tree *, tree_free);
