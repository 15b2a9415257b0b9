/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of the files that were sampled (symbol/functions.h), as they were then: one file
 * each in the directory symbols/ of a session directory, named by build-id (man opsymbols). Its
 * size is limited; the tables of files that were not sampled for longest go first.
 *
 *	struct function_store *store = function_store_new("/var/lib/oprofile", 64 << 20);
 *	char key[FUNCTION_KEY];
 *
 *	if (function_key(&file, &version, key) && function_store_wants(store, key, true))
 *		function_store_put(store, key, &table);
 *	function_store_free(store);
 *
 * One thread may use a store while another reads its counters.
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_identity;
struct file_version;
struct function_store;
struct function_table;

enum { FUNCTION_KEY = 128 };

struct function_store_counts {
	uint64_t functions_kept, functions_evicted; /* tables */
	uint64_t functions_put_off;		    /* too many at once; asked for again */
	uint64_t functions_failed;		    /* too large, or could not be written */
	uint64_t lines_kept;	/* answers about files whose lines were asked for */
	uint64_t lines_put_off; /* that were not kept; asked for again */
	uint64_t bytes;		/* on the disk */
};

/* Writes to @ret the name of the table of a file in this version: its build-id or, if it has none,
 * numbers that identify it on this machine. False if it is not known which file it is. */
bool function_key(const struct file_identity *file, const struct file_version *version,
		  char ret[FUNCTION_KEY]);

/* Creates a store in the directory @session_dir, which may grow to @limit bytes; 0: none are kept.
 * Nothing is written before the first table. Caller frees. */
struct function_store *function_store_new(const char *session_dir, uint64_t limit);
/* NULL is fine. */
void function_store_free(struct function_store *s);
DEFINE_CLEANUP(struct function_store *, function_store_free);

/* Changes the limit, from any thread. */
void function_store_set_limit(struct function_store *s, uint64_t limit);

/* Whether the table @key should be put into the store, also again if functions that were not
 * sampled were left out meanwhile; notes that it is in use. @is_new: the file is seen for the first
 * time, so that, if another's table has its build-id, its own may be better. */
bool function_store_wants(struct function_store *s, const char *key, bool is_new);
/* Writes a table. A table that is there is replaced only by that of a file of root. What fails is
 * counted. One without all functions also by that of a file of the same owner. */
void function_store_put(struct function_store *s, const char *key,
			const struct function_table *table);
/* Counts @n tables that nobody has the time to read now, from any thread. */
void function_store_put_off(struct function_store *s, uint64_t n);
/* Says that the file has no table that could be read: for an hour only another file of this key
 * is tried. */
void function_store_lacks(struct function_store *s, const char *key);
/* Keeps @lines, which are bytes of kept_lines_pack() and not looked at, with the table of @key;
 * with @replaces_last in place of those that were put last. 0 or -errno: -ENOENT if there is no
 * table, -EPERM if it is that of a file of another owner, -EAGAIN if too much was written. */
int function_store_put_lines(struct function_store *s, const char *key, bool replaces_last,
			     const struct function_table *lines);
/* Counts how an attempt to keep lines ended: 0 or -errno. */
void function_store_count_lines(struct function_store *s, int code);
/* Reads the counters, from any thread. */
void function_store_count(const struct function_store *s, struct function_store_counts *ret);
