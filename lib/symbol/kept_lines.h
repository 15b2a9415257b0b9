/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source lines of the sampled functions of a file as a string of bytes, from which they can be
 * shown when the file is gone (man opsymbols.5): a table of rows, each with the line of the code
 * from its address to that of the next row, and a hash of the line's text, by which it is found
 * again in another version of the source.
 *
 *	struct kept_lines l = { 0 };
 *	kept_lines_add(&l, address, "/home/me/a.c", 7, source_line_hash(text, size));
 *	kept_lines_add(&l, end, NULL, 0, 0);		what follows has no line
 *	kept_lines_pack(&l, &bytes);
 *	...
 *	if (kept_lines_unpack(bytes.text, bytes.length, &again) == 0 &&
 *	    (at = kept_lines_find(&again, address)))
 *		printf("%s:%u\n", again.files[at->file], at->line);
 *	kept_lines_done(&again);
 */
#pragma once

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

struct strbuf;

enum {
	KEPT_LINES_PACKED_MAX = 2 << 20, /* largest result of kept_lines_pack() */
	KEPT_LINES_PLAIN_MAX = 8 << 20,	 /* the same before compression */
};

struct kept_line {
	uint64_t address; /* as linked, of the first byte */
	uint32_t file;	  /* index in ->files */
	uint32_t line;	  /* from 1; 0: none is known */
	uint32_t text;	  /* hash of the text of the line; 0: not known */
};

struct kept_lines {
	struct kept_line *list; /* by address */
	size_t count, room;
	const char **files; /* as compiled */
	size_t file_count, file_room;
	struct arena arena; /* of the names */
};

/* Adds a row; addresses ascend. One of the same address as the row before replaces it; one that
 * says the same is left out. */
void kept_lines_add(struct kept_lines *l, uint64_t address, const char *file, uint32_t line,
		    uint32_t text);
/* Adds the table to @out, compressed. 0, or -EFBIG. */
int kept_lines_pack(const struct kept_lines *l, struct strbuf *out);
/* Makes a table of @size bytes of kept_lines_pack(), which may have been forged. 0, and the caller
 * calls kept_lines_done(); or -EBADMSG. */
int kept_lines_unpack(const void *bytes, size_t size, struct kept_lines *ret);
/* The row of the code at @address; NULL if its line is not known. */
const struct kept_line *kept_lines_find(const struct kept_lines *l, uint64_t address);
/* Frees all; a zeroed one is fine. */
void kept_lines_done(struct kept_lines *l);
