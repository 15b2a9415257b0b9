/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The window of time in a question to opweb: "all", or FROM..TO as a specification takes it.
 *
 *	_cleanup_free_ char *time = NULL;
 *	const char *rest = "2026-11-23T14:00:00Z../usr/bin/xz";
 *	if (web_window_parse(&rest, &time) == 0)
 *		words = web_window_words(words, time, &count);
 */
#pragma once

#include <stddef.h>

/* Parses a window at *@at, up to a slash or the end, and moves *@at there. Sets *@ret to a word of
 * a specification, or NULL for all time; caller frees. 0, or -EINVAL if it cannot be a window. */
int web_window_parse(const char **at, char **ret);
/* The words, with the window instead of the time in them, if there is one: it is within that.
 * Caller frees the array, which ends with NULL; the words are borrowed. */
char **web_window_words(char *const *words, char *window, size_t *ret_count);
