/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small work on text for people. */
#pragma once

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Adds @text wrapped at blanks to @width columns (0: not wrapped) and a newline; lines after the
 * first are indented by @indent, the first is taken to stand there already. */
void text_wrap(struct strbuf *out, const char *text, unsigned int indent, unsigned int width);

/* Edit distance of two words, at most 64 characters of each looked at. */
unsigned int text_distance(const char *a, const char *b);

/* Writes @value in decimal, or in hexadecimal with at least @digits (up to 16) digits, without a
 * NUL; returns how many characters. For where printf() would take most of the time. */
size_t text_dec(uint64_t value, char out[20]);
size_t text_hex(uint64_t value, unsigned int digits, char out[16]);

/* Bytes of the UTF-8 character that @s starts with (RFC 3629; no surrogates), 0 if it is none. */
size_t text_utf8_length(const char *s);
/* Whether @s is UTF-8 throughout (RFC 3629), which paths need not be. */
bool text_is_utf8(const char *s);

/* Characters of UTF-8 text; a byte that is none counts as one. */
unsigned int text_width(const char *s);
/* Cuts what stands in @b from byte @from on to @width characters, at least 3, of which the last
 * three are dots where anything was cut. */
void text_cut(struct strbuf *b, size_t from, unsigned int width);
/* Adds @text with its control characters as \xNN: names come from anywhere, and a terminal obeys
 * what it is sent. */
void text_visible(struct strbuf *out, const char *text);
/* Adds @s as a column of a line of text, so escaped that it has no tab, newline or bare backslash;
 * "-" where it is empty. */
void text_add_field(struct strbuf *out, const char *s);
/* The reverse, in place; 0 or -EBADMSG. */
int text_unescape_field(char *s);
