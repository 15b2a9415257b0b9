/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of POSIX tar ("ustar" with pax records) that a pack is made of. A file is a header of
 * one block, then its bytes, filled up with zeros to whole blocks. It may be preceded by a file of
 * kind 'x' that contains records "LENGTH KEY=VALUE\n", of which "path" is the file's real name. Two
 * blocks of zeros end it.
 *
 *	char block[PACK_BLOCK];
 *	pack_format_header("usr/bin/xz", PACK_REGULAR, 81, 1600000000, block);
 *	pack_format_parse(block, &header);		0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PACK_BLOCK = 512,
	PACK_SHORT_NAME = 100, /* a name of this length needs a record */
	PACK_REGULAR = '0',
	PACK_EXTENDED = 'x',
};

struct pack_header {
	char name[PACK_SHORT_NAME + 1];
	int kind; /* PACK_REGULAR, ... */
	uint64_t size, mtime;
};

/* @size rounded up to whole blocks. */
size_t pack_format_padded(size_t size);
/* Writes a header; @name is shorter than PACK_SHORT_NAME. */
void pack_format_header(const char *name, int kind, uint64_t size, uint64_t mtime,
			char ret[PACK_BLOCK]);
/* The record for a key and its value; caller frees. */
char *pack_format_record(const char *key, const char *value);

/* Parses a header: 0, or -EBADMSG if it is invalid. Link targets, split names and other fields that
 * no pack has are ignored: the kind shows that it is not a regular file. */
int pack_format_parse(const char block[PACK_BLOCK], struct pack_header *ret);
/* Returns whether the block is an end marker. */
bool pack_format_is_end(const char block[PACK_BLOCK]);
/* Finds the value of @key in @size bytes of records; false if it is missing or the records are
 * malformed. The value is not terminated. */
bool pack_format_find(const char *records, size_t size, const char *key, const char **ret,
		      size_t *ret_size);
