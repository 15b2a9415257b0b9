/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of an event description file and the words of a line. The text is the caller's, is
 * written into (words are cut off with NULs), and must outlive what is taken out of it.
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
	char *next;	     /* what is not yet read; NULL at the end */
	struct error *err;
};

/* The next line that is neither blank nor a comment, without blanks around it; NULL at the end. */
char *evline_next(struct evline *l);
/* The next word at *@at, NULL where there is none; moves *@at behind it. */
char *evline_word(char **at);
/* Says what is wrong as "path:line: ..."; returns -EBADMSG. */
int evline_fail(const struct evline *l, const char *format, ...) _printf_(2, 3);
/* Reads @text as a number from 0 to @max; 0 or -EBADMSG, naming it as the @what. */
int evline_number(const struct evline *l, const char *what, const char *text, uint64_t max,
		  uint64_t *ret);
