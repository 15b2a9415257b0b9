/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of a file as a string of bytes, from which their names can be shown when the file
 * is gone: where each symbol of a settled table (symbol/symtab.h) starts and ends, and its name as
 * in the file. The bytes are compressed, and untrusted when they are read.
 *
 *	ssize_t n = functions_pack(st, bytes, room);
 *	...
 *	if (functions_unpack(bytes, (size_t)n, "xz", &again) == 0)
 *		symtab_find(again, offset);
 *
 * Names that elfcode_fill() made up are not stored. They are made up again, from the file's name
 * that functions_unpack() is given.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct symtab;

enum {
	FUNCTIONS_PACKED_MAX = 8 << 20,	 /* largest result of functions_pack() */
	FUNCTIONS_PLAIN_MAX = 128 << 20, /* the same before compression */
};

/* Writes the symbols of @st, which is settled, to @room bytes at @to. Returns their number, -EFBIG
 * if there is no room or there are too many, or -ENOMEM. */
ssize_t functions_pack(const struct symtab *st, void *to, size_t room);
/* The same of the functions for whose number of the first piece @wanted is true. */
ssize_t functions_pack_some(const struct symtab *st, const bool *wanted, void *to, size_t room);
/* Makes a settled table of @size bytes of functions_pack(), which may have been forged; @name is
 * the name of the file. 0, caller frees; or -EBADMSG. */
int functions_unpack(const void *bytes, size_t size, const char *name, struct symtab **ret);
/* Returns how much memory that table takes at most, by what the bytes say; SIZE_MAX: it is none. */
size_t functions_memory(const void *bytes, size_t size);
