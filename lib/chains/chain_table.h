/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An append-only array of fixed-size records in a file mapped into memory; the chain store is built
 * from these (man opchains.5 shows the file format). Record 0 is zero and never used, so that 0 can
 * mean "none".
 *
 * There is one writer and any number of readers. A record is complete before it is counted, so a
 * writer that is killed loses at most the record it was adding. The caller provides the struct
 * chain_table, which owns the file and the mapping until it is closed.
 *
 *	struct chain_table t;
 *	if (chain_table_open(&t, path, CHAIN_TABLE_NODES, true, err) < 0) ...
 *	chain_table_add(&t, &(struct chain_node){ .count = 1 });
 *	chain_table_close(&t);
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum chain_table_kind {
	CHAIN_TABLE_PLACES = 1,
	CHAIN_TABLE_NODES = 2,
};

/* Record of CHAIN_TABLE_PLACES: an image and an offset in it. */
enum { CHAIN_OFFSET_BITS = 48 };
struct chain_place {
	uint64_t image_offset; /* image << 48 | low 48 bits of the offset */
};

/* Record of CHAIN_TABLE_NODES: a place called from its parent's place. */
struct chain_node {
	uint32_t parent; /* an earlier node; 0: this is the root of a context */
	uint32_t place;	 /* a place; for a root the context's number */
	uint32_t count;	 /* samples whose chain is this node and its parents; saturates */
};

struct chain_table {
	int fd;
	uint8_t *map;
	size_t mapped;	/* bytes */
	uint32_t count; /* records, including record 0 */
	size_t record;	/* bytes per record */
	bool writable;
	bool damaged; /* shorter than its header says: @count is what is present */
};

#define CHAIN_TABLE_INIT ((struct chain_table){ .fd = -1 })

/* Opens the file. With @write it is created if missing or blank; otherwise an empty file has no
 * records. Returns 0 (the caller closes) or -errno: -EBADMSG if it is damaged or not such a file,
 * -ENOTSUP if it has the other byte order or another version. */
int chain_table_open(struct chain_table *t, const char *path, enum chain_table_kind kind,
		     bool write, struct error *err);
/* Frees memory of the records before number @before; reading one takes it again from the file. */
void chain_table_forget(const struct chain_table *t, uint32_t before);
/* Unmaps and closes the file; CHAIN_TABLE_INIT is allowed. A writer's file is truncated to the
 * length in use. */
void chain_table_close(struct chain_table *t);

/* Adds a copy of @record. Returns its number, or 0 if the file cannot grow (errno gives the
 * reason). */
uint32_t chain_table_add(struct chain_table *t, const void *record);
/* Removes all records from number @count on. */
void chain_table_cut(struct chain_table *t, uint32_t count);

/* Returns record @i, which must be less than the count; borrowed until the next
 * chain_table_add(). */
static inline void *chain_table_at(const struct chain_table *t, uint32_t i)
{
	enum { HEADER = 32 };

	return t->map + HEADER + i * t->record;
}

/* Lists the numbers of the pairs of tables in a store's directory, ascending; the caller frees.
 * Returns 0 or -errno; a missing directory has none. */
int chain_pairs(const char *dir, uint32_t **ret, size_t *ret_count, struct error *err);
