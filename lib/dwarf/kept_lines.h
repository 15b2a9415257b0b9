/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source lines and inlined calls of the sampled functions of a file as a string of bytes, from
 * which they can be shown when the file is gone (man opsymbols.5): a table of rows, each with the
 * line of the code from its address to that of the next row, a hash of the line's text, by which it
 * is found again in another version of the source, and the inlined calls that it belongs to.
 *
 *	struct kept_lines l = { 0 };
 *	kept_lines_add(&l, &(struct kept_code){ .address = address, .file = "/home/me/a.c",
 *						.line = 7, .calls = calls, .call_count = n });
 *	kept_lines_add(&l, &(struct kept_code){ .address = end });	what follows is not known
 *	kept_lines_pack(&l, &bytes);
 *	...
 *	if (kept_lines_unpack(bytes.text, bytes.length, &again) == 0 &&
 *	    (at = kept_lines_find(&again, address)) && at->line)
 *		printf("%s:%u\n", again.files[at->file], at->line);
 *	kept_lines_done(&again);
 */
#pragma once

#include "base/intern.h"

#include <stddef.h>
#include <stdint.h>

struct strbuf;

enum {
	KEPT_LINES_PACKED_MAX = 2 << 20, /* largest result of kept_lines_pack() */
	KEPT_LINES_PLAIN_MAX = 8 << 20,	 /* the same before compression */
	KEPT_LINES_ROWS_MAX = 1 << 18,	 /* of a file; who adds rows keeps to that, and to the */
	KEPT_LINES_DEPTH_MAX = 256,	 /* nested calls: more are not read */
};

/* A call that the compiler replaced by the code of the called function. */
struct kept_call {
	uint32_t caller;      /* the call that contains it, as in kept_line; less than its own */
	const char *function; /* as in lines.h */
	const char *file;     /* of the call; NULL: not known */
	uint32_t line;
	uint64_t start; /* of its code */
};

struct kept_line {
	uint64_t address; /* as linked, of the first byte */
	uint32_t file;	  /* index in ->files */
	uint32_t line;	  /* from 1; 0: none is known */
	uint32_t text;	  /* hash of the text of the line; 0: not known */
	uint32_t call;	  /* the innermost inlined call: its index in ->calls plus 1; 0: none */
};

struct kept_lines {
	struct kept_line *list; /* by address */
	size_t count, room;
	const char **files; /* as compiled */
	size_t file_count, file_room;
	struct kept_call *calls;
	size_t call_count, call_room;
	struct map call_numbers; /* by hash, of calls that were added */
	struct intern names;
};

/* What is known of the code from an address on. */
struct kept_code {
	uint64_t address;
	const char *file; /* of the line */
	uint32_t line;	  /* 0: not known */
	uint32_t text;
	const struct kept_call *calls; /* innermost first; their ->caller is ignored */
	size_t call_count;
};

/* Adds a row; addresses ascend. One of the same address as the row before replaces it; one that
 * says the same is left out. Strings are copied. */
void kept_lines_add(struct kept_lines *l, const struct kept_code *code);
/* Adds to @ret, which is zeroed, what is known in @newer or else in @older. Texts that @newer lacks
 * are those of the same line in @older. */
void kept_lines_merge(const struct kept_lines *older, const struct kept_lines *newer,
		      struct kept_lines *ret);
/* Adds the table to @out, compressed. 0, or -EFBIG. */
int kept_lines_pack(const struct kept_lines *l, struct strbuf *out);
/* Makes a table of @size bytes of kept_lines_pack(), which may have been forged. 0, and the caller
 * calls kept_lines_done(); or -EBADMSG. */
int kept_lines_unpack(const void *bytes, size_t size, struct kept_lines *ret);
/* The row of the code at @address; NULL if neither line nor calls are known. */
const struct kept_line *kept_lines_find(const struct kept_lines *l, uint64_t address);
/* Frees all; a zeroed one is fine. */
void kept_lines_done(struct kept_lines *l);
