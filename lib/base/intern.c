/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/intern.h"

#include "base/hash.h"

#include <string.h>

/* Finds @text; else NULL, and in *@ret_hash the key that it would get. */
static const char *find(const struct intern *t, const char *text, uint64_t *ret_hash)
{
	uint64_t hash = hash_text(text, strlen(text));
	const char *known;

	/* Of two strings with one hash the later one moves on. */
	while ((known = map_get(&t->by_hash, hash)) && strcmp(known, text))
		hash++;
	*ret_hash = hash;
	return known;
}

const char *intern(struct intern *t, const char *text)
{
	const char *known;
	uint64_t hash;

	if (!text)
		return NULL;
	known = find(t, text, &hash);
	if (!known) {
		known = arena_strdup(&t->strings, text);
		(void)map_set(&t->by_hash, hash, (void *)known);
	}
	return known;
}

bool intern_has(const struct intern *t, const char *text)
{
	uint64_t hash;

	return find(t, text, &hash) != NULL;
}

void intern_done(struct intern *t)
{
	map_done(&t->by_hash);
	arena_done(&t->strings);
}
