/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settled symbol tables kept on disk, so that a second report of an image reads no ELF file and no
 * kallsyms: a file a table, mapped, of which only the pages are read that hold what is asked for.
 * Any number of tools may use one directory at a time. Damage is found, counted and made good.
 *
 *	struct symcache *cache = symcache_open(directory, SYMCACHE_CAP);
 *	st = symcache_find(cache, key, NULL);
 *	if (!st) {
 *		st = ...;	read from the file
 *		symcache_store(cache, key, st);
 *	}
 *	symtab_free(st);
 *	symcache_close(cache);
 *
 * A key says all that decides what is in the table (a build-id and the unit of offsets); tables of
 * equal keys are taken to be equal.
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symcache;
struct symtab;

/* Bytes that a directory holds before what was not used for longest goes. */
#define SYMCACHE_CAP ((uint64_t)512 << 20)

/* How to read a table anew if its file turns out to be damaged in the middle of its use. */
struct symcache_reload {
	struct symtab *(*load)(void *data); /* NULL where it cannot be had; the cache frees */
	void *data;
	void (*release)(void *data);
};

struct symcache_stats {
	size_t hits, misses, stored, evicted;
	size_t damaged; /* files that were cut short, changed or of another version; gone now */
	size_t failed;	/* tables that could not be written */
};

/* Where the user's cache is: what $OPROFILE_SYMBOL_CACHE names ("no": nowhere), for root
 * /var/cache/oprofile, for others $XDG_CACHE_HOME/oprofile or ~/.cache/oprofile. Caller frees; NULL
 * for nowhere. */
char *symcache_directory(void);
/* Opens the cache in @directory, which is made if need be and may grow to @cap bytes. NULL, with a
 * line in the debug log, if it cannot be made or is not the caller's alone to write. Caller closes.
 */
struct symcache *symcache_open(const char *directory, uint64_t cap);
/* Removes what was used least if the cache has grown over its cap, and frees; NULL is fine. Tables
 * that came from it must be gone. */
void symcache_close(struct symcache *c);
DEFINE_CLEANUP(struct symcache *, symcache_close);

/* The table stored under @key, to be freed by the caller; NULL if there is none. @reload (may be
 * NULL) is copied, and its data taken if there is a table. */
struct symtab *symcache_find(struct symcache *c, const char *key,
			     const struct symcache_reload *reload);
/* Stores a settled table under @key. What fails is only counted: the next report tries again. */
void symcache_store(struct symcache *c, const char *key, const struct symtab *st);

/* What has happened so far. */
const struct symcache_stats *symcache_stats(const struct symcache *c);
