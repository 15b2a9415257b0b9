/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a source may define a function, found by its name and by braces: for languages that
 * have them.
 *
 *	_cleanup_free_ char *word = source_function_word("_ZN2ns4workEl");	"work"
 *	struct source_extent e = { 0 };
 *	while (source_function_next(text, word, &e))
 *		...lines from e.first to e.last; calls and declarations are short
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct sourcetext;

/* Lines, from 1. */
struct source_extent {
	size_t first, last;
};

/* The word by which a source calls the function that is linked as @name, or an operator; that of
 * the function around a lambda or closure. NULL if there is none; caller frees. */
char *source_function_word(const char *name);
/* Finds the next line after @e->first that has @word, as above, and where what begins there ends:
 * the block after it, or the statement. False: there is none. */
bool source_function_next(const struct sourcetext *text, const char *word, struct source_extent *e);
