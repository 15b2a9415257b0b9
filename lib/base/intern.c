/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/intern.h"

#include "base/hash.h"

#include <string.h>

const char *intern(struct intern *t, const char *text)
{
	uint64_t hash;
	char *known;

	if (!text)
		return NULL;
	hash = hash_bytes(text, strlen(text));
	/* Of two strings with one hash the later one moves on. */
	while ((known = map_get(&t->by_hash, hash)) && strcmp(known, text))
		hash++;
	if (!known) {
		known = arena_strdup(&t->strings, text);
		(void)map_set(&t->by_hash, hash, known);
	}
	return known;
}

void intern_done(struct intern *t)
{
	map_done(&t->by_hash);
	arena_done(&t->strings);
}
