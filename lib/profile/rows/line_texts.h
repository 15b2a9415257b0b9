/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hashes of the texts of source lines, as they were when a file was built: of sources that are
 * there, and not newer than the file. With a root, only of those below it.
 *
 *	struct line_texts *t = line_texts_new("/archive", elf);
 *	uint32_t text = line_texts_find(t, "/home/me/a.c", 7);		0: not known
 *	line_texts_free(t);
 */
#pragma once

#include "base/macro.h"

#include <stdint.h>

struct elffile;
struct line_texts;

/* Looks for the sources of @ef below @root; NULL or "": of this machine. Both are borrowed. Caller
 * frees. */
struct line_texts *line_texts_new(const char *root, const struct elffile *ef);
/* NULL is fine. */
void line_texts_free(struct line_texts *t);
DEFINE_CLEANUP(struct line_texts *, line_texts_free);
/* The hash of line @line of @file, as compiled; 0 if its text is not known. */
uint32_t line_texts_find(struct line_texts *t, const char *file, unsigned int line);
