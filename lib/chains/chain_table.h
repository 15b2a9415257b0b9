/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An array of records of one size in a file mapped into memory, to which records are only ever
 * added: what the chain store is made of (man opchains.5 draws the bytes). Record 0 is zero and
 * never used, so that 0 can mean "none".
 *
 * One writer, any number of readers. A record is complete before it is counted: a writer that is
 * killed loses at most the one it was adding.
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

/* Record of CHAIN_TABLE_NODES: a place called from its parent. */
struct chain_node {
	uint32_t parent; /* a node before this one; 0: this is a root, of a context */
	uint32_t place;	 /* of a root the context's number */
	uint32_t count;	 /* samples whose chain this node and its parents are; saturates */
};

struct chain_table {
	int fd;
	uint8_t *map;
	size_t mapped;	/* bytes */
	uint32_t count; /* records with number 0 */
	size_t record;	/* bytes of one */
	bool writable;
	bool damaged; /* it was shorter than it should be: @count is what is there */
};

#define CHAIN_TABLE_INIT ((struct chain_table){ .fd = -1 })

/* Opens the file; with @write it is made where missing or blank, else an empty one has no records.
 * 0 or -errno: -EBADMSG if it is something else, or of a machine of the other byte order. Caller
 * closes. */
int chain_table_open(struct chain_table *t, const char *path, enum chain_table_kind kind,
		     bool write, struct error *err);
/* Unmaps and closes; CHAIN_TABLE_INIT is fine. A writer's file is as long as it need be then. */
void chain_table_close(struct chain_table *t);

/* Adds a copy of @record: its number, or 0 if the file cannot grow (errno says why). */
uint32_t chain_table_add(struct chain_table *t, const void *record);
/* Forgets all records from number @count on. */
void chain_table_cut(struct chain_table *t, uint32_t count);

/* Record @i, which must be below the count; borrowed until the next chain_table_add(). */
static inline void *chain_table_at(const struct chain_table *t, uint32_t i)
{
	enum { HEADER = 32 };

	return t->map + HEADER + i * t->record;
}

/* The pairs of tables that there are in a store's directory. */
unsigned int chain_generations(const char *dir);
