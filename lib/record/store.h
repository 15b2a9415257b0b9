/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sample files that are open for writing: found by what tells them apart, opened when first
 * needed, closed longest unused first so that descriptors and mapped memory stay within bounds.
 *
 *	struct store_file *f = store_get(s, &key);
 *	if (!f || store_add(s, f, offset, 1) < 0)
 *		lost++;
 */
#pragma once

#include "base/error.h"
#include "base/macro.h"
#include "event/event.h"
#include "sfile/odb.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct binary;
struct store;

/* What tells sample files apart; fields that separate nothing are STORE_ALL. */
enum { STORE_ALL = -1 };
struct store_key {
	struct binary *app, *image, *callee; /* callee: {cg} files only, else NULL */
	uint32_t event;			     /* index */
	int32_t cpu;
	int64_t tgid, tid;
};

/* An open sample file. */
struct store_file {
	struct store_key key;
	struct odb *db; /* NULL: could not be opened */
	struct sfile *sf;
	size_t mapped; /* bytes, when last asked */
	uint64_t hash;
	struct store_file *next;	  /* of the same hash */
	struct store_file *newer, *older; /* by last use */
	uint64_t retry_at_ns;		  /* if it could not be opened: not before */
};

struct store_config {
	const char *samples;	    /* the session's directory; copied */
	const struct event *events; /* borrowed for the store's life */
	uint32_t cpu_type;
	double cpu_mhz;
	size_t mapped_max; /* bytes; 0: default */
	unsigned int
		open_max; /* 0: from the descriptor limit, which is raised to what is allowed */
};

struct store *store_new(const struct store_config *config);
/* Closes all; NULL is fine. */
void store_free(struct store *s);

/* The sample file of @key, opened if need be; NULL if that cannot be done now: said once for each
 * cause, tried again after a while. Borrowed until the next store_get() or store_close_all(). */
struct store_file *store_get(struct store *s, const struct store_key *key);

/* Says why a count could not be added, once for each cause. */
void store_complain(struct store *s, const struct store_file *f, int code);

/* Adds @count, saturating, to @key; 0 or -errno. */
static inline int store_add(struct store *s, struct store_file *f, uint64_t key, uint64_t count)
{
	int r = odb_add(f->db, key, (uint32_t)MIN(count, (uint64_t)UINT32_MAX));

	if (_unlikely_(r < 0))
		store_complain(s, f, r);
	return r;
}

/* Closes all sample files. */
void store_close_all(struct store *s);
/* What failed is tried again at once. */
void store_retry(struct store *s);
/* Number of files open; the bytes that they map. */
size_t store_open_files(struct store *s, size_t *ret_mapped);
