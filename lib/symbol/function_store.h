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
 *	...
 *	function_store_read("/var/lib/oprofile/symbols/0123456789abcdef", "xz", &symtab, err);
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
struct kept_lines;
struct symtab;

enum { FUNCTION_KEY = 128 };

/* The functions of one file. */
struct function_table {
	const void *bytes; /* of functions_pack(); not looked at */
	size_t size;
	uint32_t owner; /* of the file: its table gives way to one of a file of root */
};

struct function_store_counts {
	uint64_t functions_kept, functions_evicted; /* tables */
	uint64_t functions_put_off;		    /* too many at once; asked for again */
	uint64_t functions_failed;		    /* too large, or could not be written */
	uint64_t bytes;				    /* on the disk */
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

/* Whether the table @key should be put into the store; notes that it is in use. @is_new: the file
 * is seen for the first time, so that, if another's table has its build-id, its own may be
 * better. */
bool function_store_wants(struct function_store *s, const char *key, bool is_new);
/* Writes a table. A table that is there is replaced only by that of a file of root. What fails is
 * counted. */
void function_store_put(struct function_store *s, const char *key,
			const struct function_table *table);
/* Counts @n tables that nobody has the time to read now, from any thread. */
void function_store_put_off(struct function_store *s, uint64_t n);
/* Says that the file has no table that could be read: for an hour only another file of this key
 * is tried. */
void function_store_lacks(struct function_store *s, const char *key);
/* Reads the counters, from any thread. */
void function_store_count(const struct function_store *s, struct function_store_counts *ret);

/* Reads the table in the file @path, symbols/KEY; @name is the name of the file that it is of. 0,
 * the caller frees; or -errno: -EBADMSG if it is damaged. */
int function_store_read(const char *path, const char *name, struct symtab **ret, struct error *err);
/* Returns how much memory the table in that file takes at most; SIZE_MAX: it cannot be read. */
size_t function_store_memory(const char *path);
/* Reads the lines kept with that table. 0, and the caller calls kept_lines_done(); or -errno:
 * -ENODATA if none were kept. */
int function_store_read_lines(const char *path, struct kept_lines *ret, struct error *err);
/* Keeps @lines with that table, besides those of other code that were kept before: these are
 * dropped if all are too many. 0 or -errno. */
int function_store_add_lines(const char *path, const struct kept_lines *lines, struct error *err);
