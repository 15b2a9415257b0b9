/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the strings in a JSON text that another program wrote, for those few files of which some
 * strings matter. It is no validator: what is not a string is skipped. Nothing is kept.
 *
 *	static int take(const struct json_string *s, void *data)
 *	{
 *		return s->depth == 1 && !strcmp(s->key, "Name") ? puts(s->value) : 0;
 *	}
 *	...
 *	json_strings(text, length, take, NULL);
 */
#pragma once

#include <stddef.h>

/* A value that is a string; borrowed for the call. */
struct json_string {
	unsigned int depth; /* of objects and lists around it: 1 in the outermost */
	const char *key;    /* of the value, or of the list that it is in; "" if there is none */
	const char *value;  /* escapes are undone; characters that are not ASCII become "?" */
};

/* Calls @take with each string of the @size bytes at @text that is a value, in order, until it
 * returns non-zero, and returns that value. 0 at the end; -EBADMSG if a string or the nesting is
 * not ended, or is more than 32 deep. */
int json_strings(const char *text, size_t size,
		 int (*take)(const struct json_string *s, void *data), void *data);
