/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file format of a table in the symbol cache (symbol/symcache.h). All numbers are in the
 * machine's byte order:
 *
 *	header		struct symcache_header
 *	key		its bytes, padded with zeros to a multiple of 8
 *	ends		u64 per symbol
 *	records		struct symcache_record per symbol
 *	names		each with its NUL, padded to a multiple of 8
 *	sums		u64 per page of the above: its digest
 *
 * The header's check covers header, key and sums and is verified when the file is opened. Each page
 * is verified on first use.
 */
#pragma once

#include "symbol/symtab.h"

enum { SYMCACHE_VERSION = 8, SYMCACHE_PAGE = 4096, SYMCACHE_ORDER = 0x01020304 };

#define SYMCACHE_MAGIC "opsymtab"

struct symcache_header {
	char magic[8];
	uint32_t version;
	uint32_t order; /* SYMCACHE_ORDER as the writer stores it */
	uint64_t names_size;
	uint32_t count; /* symbols */
	uint32_t key_size;
	uint64_t check;
};
static_assert(sizeof(struct symcache_header) == 40, "as on disk");

struct symcache_record {
	uint64_t offset, address;
	uint32_t name; /* offset in the names */
	uint32_t whole, rank, zero;
};
static_assert(sizeof(struct symcache_record) == 32, "as on disk");

/* A mapped file. */
struct symcache_view {
	const uint8_t *bytes;
	size_t size;
	const struct symcache_header *header;
	const uint64_t *ends;
	const struct symcache_record *records;
	const char *names;
	const uint64_t *sums; /* they follow the last page */
	uint8_t *seen;	      /* per page: it was verified */
};

/* Opens a view of @size bytes at @bytes (aligned to 8, borrowed), which should be the file of @key.
 * 0, then the caller calls symcache_view_done(); or -EBADMSG if it is another one or damaged. */
int symcache_view_init(struct symcache_view *v, const void *bytes, size_t size, const char *key);
/* Frees the view's own memory. */
void symcache_view_done(struct symcache_view *v);
/* Reads the @i-th symbol, whose name points into the file; false if its page is damaged. */
bool symcache_view_read(struct symcache_view *v, size_t i, struct symbol *ret);

/* Writes the file of @key to @fd, which is empty; 0 or -errno. */
int symcache_write(int fd, const char *key, const struct symtab *st);
