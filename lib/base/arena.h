/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many small allocations that live and die together. The memory that it returns
 * belongs to the arena, never moves and is valid until arena_done().
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
	char *at, *end;		    /* free part of the newest */
	size_t bytes;		    /* of all blocks */
};

#define ARENA_INIT ((struct arena){ 0 })

/* Allocates @size bytes aligned for any type, not initialised. */
void *arena_alloc(struct arena *a, size_t size);
/* Copies @size bytes without alignment and appends a NUL. */
char *arena_strndup(struct arena *a, const char *s, size_t size);
/* Copies a string without alignment. */
char *arena_strdup(struct arena *a, const char *s);
/* Moves everything that @from holds to @a; @from is empty afterwards. */
void arena_join(struct arena *a, struct arena *from);
/* Frees everything; the arena is empty and usable again. */
void arena_done(struct arena *a);
