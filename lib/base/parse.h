/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses numbers and lists in text. A string is parsed as a whole or not at all; ranges are
 * checked.
 *
 *	uint64_t count;
 *	if (parse_u64(text, 1, UINT32_MAX, &count) < 0)
 *		return error_set(err, -EINVAL, "count '%s' is not a number", text);
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

/* The whole of @s as a decimal or 0x-hexadecimal number from @min to @max; -EINVAL if it is not
 * one, -ERANGE if it is outside. */
int parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *ret);

/* The whole of @s as a decimal number, which may be negative; errors as parse_u64(). */
int parse_i64(const char *s, int64_t min, int64_t max, int64_t *ret);

/* The hexadecimal digits at *@s, without 0x; moves *@s past them. -EINVAL if there are none or
 * more than 16. */
int parse_hex(const char **s, uint64_t *ret);

/* The decimal digits at *@s; moves *@s past them. -EINVAL if there are none, -ERANGE beyond
 * 64 bits. */
int parse_dec(const char **s, uint64_t *ret);

/* The octal digits at *@s; moves *@s past them. Errors as parse_dec(). */
int parse_octal(const char **s, uint64_t *ret);

/* The number such as 12 or 0.5 at *@s, without a sign or an exponent; moves *@s past it. Errors as
 * parse_dec(). */
int parse_decimal(const char **s, double *ret);

/* A size such as 4096, 64K, 32M, 2G; -EINVAL or -ERANGE. */
int parse_size(const char *s, uint64_t *ret);

/* Splits @text at each @separator and calls @item with every part (NUL-terminated, borrowed for the
 * call) until one call returns non-zero; returns that value, else 0. An empty text has no parts. */
int parse_list(const char *text, char separator, int (*item)(const char *part, void *data),
	       void *data);
