/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strings of which each is kept once, so that equal ones are the same pointer. They live until
 * intern_done().
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
	struct map by_hash; /* the string itself */
};

#define INTERN_INIT ((struct intern){ .strings = { 0 } })

/* The one copy of @text; NULL of NULL. */
const char *intern(struct intern *t, const char *text);
/* Frees all; it is empty and usable again. */
void intern_done(struct intern *t);
