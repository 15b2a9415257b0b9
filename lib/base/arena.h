/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many small allocations that live and die together. What it returns is the arena's until
 * arena_done(), and never moves.
 *
 *	struct arena a = ARENA_INIT;
 *	const char *name = arena_strdup(&a, "memcpy");
 *	arena_done(&a);
 */
#pragma once

#include "base/macro.h"

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *blocks; /* newest first */
	char *at, *end;		    /* what is free in the newest */
};

#define ARENA_INIT ((struct arena){ 0 })

/* Allocates @size bytes aligned for any type, not initialised. */
void *arena_alloc(struct arena *a, size_t size);
/* Copies @size bytes without alignment and puts a NUL behind them. */
char *arena_strndup(struct arena *a, const char *s, size_t size);
/* Copies a string without alignment. */
char *arena_strdup(struct arena *a, const char *s);
/* Makes all that @from holds @a's own; @from is empty then. */
void arena_join(struct arena *a, struct arena *from);
/* Frees all; the arena is empty and usable again. */
void arena_done(struct arena *a);
