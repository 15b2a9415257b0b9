/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cache of settled symbol tables on disk, so that the second report on an image need not read its
 * ELF file or kallsyms. Each table is a file, which is mapped, so that only the pages needed are
 * read. Any number of tools may use a directory at the same time. Damage is detected, counted and
 * repaired.
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
 * A key identifies the content of a table: it contains all that this depends on, such as a build-id
 * and the unit of offsets.
 */
#pragma once

#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symcache;
struct symtab;

/* Limit for the size of a directory in bytes; beyond, the least recently used files are removed. */
#define SYMCACHE_CAP ((uint64_t)512 << 20)

/* How to read a table from its source if its file turns out to be damaged while in use. */
struct symcache_reload {
	struct symtab *(*load)(void *data); /* NULL on failure; the cache frees it */
	void *data;
	void (*release)(void *data);
};

struct symcache_stats {
	size_t hits, misses, stored, evicted;
	size_t damaged; /* files cut short, changed or of another version; removed */
	size_t failed;	/* tables that could not be written */
};

/* The user's cache directory: $OPROFILE_SYMBOL_CACHE ("no": none), else /var/cache/oprofile for
 * root, else $XDG_CACHE_HOME/oprofile or ~/.cache/oprofile. Caller frees; NULL for none. */
char *symcache_directory(void);
/* Opens the cache in @directory, which is created if missing and may grow to @cap bytes. Caller
 * closes; NULL, with a line in the debug log, if it cannot be created or others may write to it. */
struct symcache *symcache_open(const char *directory, uint64_t cap);
/* Frees it; NULL is fine. If much was stored, or sometimes if it was little, removes the least
 * recently used files if the directory exceeds its cap. All tables from it must have been freed. */
void symcache_close(struct symcache *c);
DEFINE_CLEANUP(struct symcache *, symcache_close);

/* The table stored under @key, to be freed by the caller; NULL if there is none. @reload (may be
 * NULL) is copied, and its data taken if there is a table. */
struct symtab *symcache_find(struct symcache *c, const char *key,
			     const struct symcache_reload *reload);
/* The same of a table that was stored just now, which is not counted as found. */
struct symtab *symcache_stored(struct symcache *c, const char *key,
			       const struct symcache_reload *reload);
/* Stores a settled table under @key. A failure is only counted: the next report tries again. */
void symcache_store(struct symcache *c, const char *key, const struct symtab *st);

/* Counts so far; borrowed. */
const struct symcache_stats *symcache_stats(const struct symcache *c);
