/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of strings in which each is kept once, so that equal strings are equal pointers. They live
 * until intern_done().
 *
 *	struct intern names = INTERN_INIT;
 *	if (intern(&names, a) == intern(&names, b))
 *		...they are equal
 *	intern_done(&names);
 */
#pragma once

#include "base/arena.h"
#include "base/map.h"

struct intern {
	struct arena strings;
	struct map by_hash; /* from a string's hash to the string */
};

#define INTERN_INIT ((struct intern){ .strings = { 0 } })

/* Returns the set's copy of @text; NULL for NULL. */
const char *intern(struct intern *t, const char *text);
/* Whether @text is in the set. */
bool intern_has(const struct intern *t, const char *text);
/* Frees everything; the set is empty and usable again. */
void intern_done(struct intern *t);
