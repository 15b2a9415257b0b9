/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Splits an event description file into lines, and lines into words. The text belongs to the caller
 * and is modified in place (words are terminated with NULs); it must outlive the lines and words
 * returned.
 *
 *	struct evline l = { .path = path, .next = text, .err = err, .mistakes = mistakes };
 *	while ((line = evline_next(&l)))
 *		while ((word = evline_word(&line)))
 *			if (strcmp(word, "event") != 0)
 *				(void)evline_ok(&l, evline_fail(&l, "unknown tag '%s'", word));
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { EVLINE_WARNINGS = 8 };

struct evline {
	const char *path;    /* of the file, for messages */
	unsigned int number; /* of the line last returned, from 1 */
	char *next;	     /* remaining text; NULL at the end */
	struct error *err;
	unsigned int *mistakes; /* in all files of the type so far; not to be NULL */
};

/* Returns the next line that is neither blank nor a comment, with surrounding blanks removed; NULL
 * at the end. */
char *evline_next(struct evline *l);
/* Returns the next word at *@at and advances *@at past it; NULL if there is none. */
char *evline_word(char **at);
/* Reports a mistake as "path:line: ..."; returns -EBADMSG. */
int evline_fail(const struct evline *l, const char *format, ...) _printf_(2, 3);
/* Logs the mistake in @l->err and its consequence as a warning, and clears it. After
 * EVLINE_WARNINGS of a type's files, mistakes are only counted. */
void evline_warn(const struct evline *l, const char *consequence);
/* Returns whether @r, of reading a line, is not negative; if it is, warns that the line is
 * ignored. */
bool evline_ok(const struct evline *l, int r);
/* Reads @text as a number from 0 to @max. Returns 0, or -EBADMSG with a message that calls the
 * number @what. */
int evline_number(const struct evline *l, const char *what, const char *text, uint64_t max,
		  uint64_t *ret);
