/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Splits an event description file into lines, and lines into words. The text belongs to the caller
 * and is modified in place (words are terminated with NULs); it must outlive the lines and words
 * returned.
 *
 *	struct evline l = { .path = path, .next = text, .err = err };
 *	while ((line = evline_next(&l)))
 *		while ((word = evline_word(&line))) ...
 *			return evline_fail(&l, "unknown tag '%s'", word);
 */
#pragma once

#include "base/error.h"

#include <stdint.h>

struct evline {
	const char *path;    /* of the file, for messages */
	unsigned int number; /* of the line last returned, from 1 */
	char *next;	     /* remaining text; NULL at the end */
	struct error *err;
};

/* Returns the next line that is neither blank nor a comment, with surrounding blanks removed; NULL
 * at the end. */
char *evline_next(struct evline *l);
/* Returns the next word at *@at and advances *@at past it; NULL if there is none. */
char *evline_word(char **at);
/* Reports a mistake as "path:line: ..."; returns -EBADMSG. */
int evline_fail(const struct evline *l, const char *format, ...) _printf_(2, 3);
/* Reads @text as a number from 0 to @max. Returns 0, or -EBADMSG with a message that calls the
 * number @what. */
int evline_number(const struct evline *l, const char *what, const char *text, uint64_t max,
		  uint64_t *ret);
