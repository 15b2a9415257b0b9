/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text for people to read: wrapping, widths, UTF-8, escapes. */
#pragma once

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Adds @text wrapped at blanks to @width columns (0: not wrapped), and a newline. The first line is
 * taken to start at column @indent; the others are indented to there. */
void text_wrap(struct strbuf *out, const char *text, unsigned int indent, unsigned int width);

/* Edit distance of two words; only their first 64 characters count. */
unsigned int text_distance(const char *a, const char *b);

/* Writes @value in decimal without a NUL; returns the number of characters. Much faster than
 * printf(). */
size_t text_dec(uint64_t value, char out[20]);
/* The same in hexadecimal, with at least @digits (up to 16) digits. */
size_t text_hex(uint64_t value, unsigned int digits, char out[16]);

/* Bytes of the UTF-8 character that @s starts with (RFC 3629; no surrogates), 0 if there is
 * none. */
size_t text_utf8_length(const char *s);
/* Whether all of @s is UTF-8 (RFC 3629). */
bool text_is_utf8(const char *s);

/* Number of characters of UTF-8 text; a byte that is not UTF-8 counts as one. */
unsigned int text_width(const char *s);
/* Shortens the text in @b from byte @from on to @width characters, at least 3; the last three are
 * dots if anything was cut. */
void text_cut(struct strbuf *b, size_t from, unsigned int width);
/* The code of the character at @s if it is one of those that text_visible() makes visible, and of
 * several bytes; else 0. For formats that can name characters. */
uint32_t text_control_code(const char *s);
/* Adds @text with control characters, and those that change the direction of text, as \xNN, so
 * that names of unknown origin cannot send escape sequences to a terminal, or look like others. */
void text_visible(struct strbuf *out, const char *text);
/* The same for a line of a text file, given without its newline: tabs and a CR at its end stay. */
void text_visible_line(struct strbuf *out, const char *line, size_t size);
/* Adds @word, quoted for a shell if that is needed. */
void text_shell_word(struct strbuf *out, const char *word);
/* Adds @s as a field of a tab-separated line: tab, newline and backslash are escaped; "-" if it is
 * empty. */
void text_add_field(struct strbuf *out, const char *s);
/* Undoes text_add_field(), in place; 0 or -EBADMSG. */
int text_unescape_field(char *s);
/* What the name of @count things ends with: "s", or "" of one. */
const char *text_plural(uint64_t count);
/* A number of things with their name in English, "1 sample", "2 samples"; caller frees. */
char *text_count(uint64_t count, const char *name);
/* A length of time in its two largest units: "3 days 4 h", "1 h 5 min", "12 s"; caller frees. */
char *text_duration(uint64_t seconds);
