/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of a store of functions (symbol/function_store.h): the functions of one file, and lines
 * of them that were kept (man opsymbols).
 *
 *	function_file_read("/var/lib/oprofile/symbols/0123456789abcdef", "xz", &symtab, err);
 *	if (function_file_read_lines("/var/lib/oprofile/symbols/0123456789abcdef", &kept, err) == 0)
 *		lines = lines_new_kept(&kept);
 */
#pragma once

#include "base/error.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kept_lines;
struct stat;
struct symtab;

/* The functions of one file. */
struct function_table {
	const void *bytes; /* of functions_pack(), or lines; not looked at */
	size_t size;
	uint32_t owner; /* of the file: its table gives way to one of a file of root */
};

/* How often lines can be added to a file; then the oldest ones go. */
enum { FUNCTION_FILE_SECTIONS = 8 };

/* In little-endian byte order. */
struct function_header {
	char magic[8];
	uint32_t owner, size, crc;
};
static_assert(sizeof(struct function_header) == 20, "as on disk");

/* Whether @h is the start of such a file. */
bool function_header_is_one(const struct function_header *h);
/* Whether functions of it were left out. */
bool function_header_is_cut(const struct function_header *h);

/* Writes @table to the file @path. Lines that were kept with a table there stay, if it has the same
 * owner. 0 or -errno. */
int function_file_put(const char *path, const struct function_table *table);
/* Ends the name of a file that function_file_cut() makes. */
#define FUNCTION_FILE_CUT ".cut"
/* Replaces the table in the file @path, which @was describes, by @table, which has some of its
 * functions; its lines stay. 0 or -errno: -EBUSY if somebody has written or used the file since.
 * After a power cut, one of both is there. */
int function_file_cut(const char *path, const struct stat *was, const struct function_table *table);
/* Removes what function_file_cut() left, at the path @cut, when it was killed; or takes back what
 * it did, as it is not known whether it was right. */
void function_file_recover(const char *cut);
/* Reads the table in the file @path, symbols/KEY; @name is the name of the file that it is of. 0,
 * the caller frees; or -errno: -EBADMSG if it is damaged. */
int function_file_read(const char *path, const char *name, struct symtab **ret, struct error *err);
/* Returns how much memory the table in that file takes at most; SIZE_MAX: it cannot be read. */
size_t function_file_memory(const char *path);
/* Reads the lines kept with that table. 0, and the caller calls kept_lines_done(); or -errno:
 * -ENODATA if none were kept. */
int function_file_read_lines(const char *path, struct kept_lines *ret, struct error *err);
/* Keeps @lines with that table, besides those of other code that were kept before: these are
 * dropped if all are too many. 0 or -errno. */
int function_file_add_lines(const char *path, const struct kept_lines *lines, struct error *err);
/* The same with @lines that are bytes of kept_lines_pack() and not looked at; with @replaces_last
 * in place of those that were added last. 0, with the number of bytes that the file has grown by in
 * *@ret_grown; or -errno, -EPERM if it is of another owner. */
int function_file_put_lines(const char *path, bool replaces_last,
			    const struct function_table *lines, uint64_t *ret_grown);
