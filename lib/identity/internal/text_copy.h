/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that move their text to huge pages copy it to memory, and put that in the place of the
 * mapped file. Finds the file, by its other mappings next to the memory, and proves it: the bytes
 * are the same.
 *
 *	struct text_copy copy;
 *	if (text_copy_find(parser, &memory, &where, &copy) > 0)
 *		...			offset in @memory + copy.shift: offset in the file
 *	free(copy.path);
 */
#pragma once

#include "identity/cookie_image.h"

struct parser;

struct text_copy {
	struct file_identity file;
	char *path;	     /* the caller frees it */
	uint64_t shift;	     /* added to an offset in the memory: the offset in the file */
	uint64_t start, end; /* where the process has another part of the file mapped */
};

/* Finds the file whose text was copied to @memory, which is anonymous or a memfd, of process
 * @where->tgid. @parser reads both, NULL: this process. Returns 1; 0 if there is none; -ESRCH if
 * the process does not have the memory any more. */
int text_copy_find(struct parser *parser, const struct cookie_image *memory,
		   const struct cookie_mapped *where, struct text_copy *ret);
