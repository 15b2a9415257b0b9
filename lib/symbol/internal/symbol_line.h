/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to the room: the words and symbols of a text in kallsyms' form, which may be that of
 * another machine. The text is not changed.
 *
 *	const char *at = text;
 *	while (symbol_line_next(&at, text + size, false, &line))
 *		...
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line, borrowed from the text. */
struct symbol_line {
	uint64_t address;
	const char *name, *module; /* not terminated; the module without brackets */
	size_t name_length, module_length;
	char type;
};

/* The next word before @end; its length may be 0. */
const char *symbol_line_word(const char **at, const char *end, size_t *ret_length);
/* Parses a word of up to 16 hexadecimal digits; false if it is none. */
bool symbol_line_address(const char *word, size_t length, uint64_t *ret);
/* Finds the next line before @end with a symbol of code, after @at, and moves that on; false at the
 * end. In a @plain copy of kallsyms only those of the kernel itself count. */
bool symbol_line_next(const char **at, const char *end, bool plain, struct symbol_line *ret);
