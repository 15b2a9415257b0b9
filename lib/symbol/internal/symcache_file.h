/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file behind one table of the symbol cache. All numbers are in the machine's byte order:
 *
 *	header		struct symcache_header
 *	key		its bytes, padded with zeros to a multiple of 8
 *	ends		u64 a symbol
 *	records		struct symcache_record a symbol
 *	names		each with a NUL behind it, padded to a multiple of 8
 *	sums		u64 a page of all that stands before: its digest
 *
 * The header's check covers header, key and sums, and is verified when the file is opened; the
 * pages are, each when it is first looked at.
 */
#pragma once

#include "symbol/symtab.h"

enum { SYMCACHE_VERSION = 3, SYMCACHE_PAGE = 4096, SYMCACHE_ORDER = 0x01020304 };

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

/* A file that is mapped. */
struct symcache_view {
	const uint8_t *bytes;
	size_t size;
	const struct symcache_header *header;
	const uint64_t *ends;
	const struct symcache_record *records;
	const char *names;
	const uint64_t *sums; /* the pages end where they start */
	uint8_t *seen;	      /* one a page: it was found whole */
};

/* Takes @size bytes at @bytes (aligned to 8, borrowed) for the file of @key. 0, then the caller
 * calls symcache_view_done(); or -EBADMSG if it is not, or is damaged where that shows at once. */
int symcache_view_init(struct symcache_view *v, const void *bytes, size_t size, const char *key);
/* Frees what the view has allocated. */
void symcache_view_done(struct symcache_view *v);
/* The @i-th symbol, its name borrowed from the file; false if that is damaged there. */
bool symcache_view_read(struct symcache_view *v, size_t i, struct symbol *ret);

/* Writes the file of @key to @fd, which is empty; 0 or -errno. */
int symcache_write(int fd, const char *key, const struct symtab *st);
