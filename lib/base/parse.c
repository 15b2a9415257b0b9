/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/parse.h"

#include "base/mem.h"

#include <errno.h>
#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int parse_hex(const char **s, uint64_t *ret)
{
	const char *at = *s;
	uint64_t value = 0;

	for (; hex_digit(*at) >= 0; at++) {
		if (at - *s == 16)
			return -EINVAL;
		value = value << 4 | (uint64_t)hex_digit(*at);
	}
	if (at == *s)
		return -EINVAL;
	*s = at;
	*ret = value;
	return 0;
}

/* The digits below @base, at most 10, at *@s. */
static int parse_digits(const char **s, unsigned int base, uint64_t *ret)
{
	const char *at = *s;
	uint64_t value = 0;

	for (; *at >= '0' && *at < (char)('0' + base); at++)
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
			return -ERANGE;
	if (at == *s)
		return -EINVAL;
	*s = at;
	*ret = value;
	return 0;
}

int parse_dec(const char **s, uint64_t *ret)
{
	return parse_digits(s, 10, ret);
}

int parse_octal(const char **s, uint64_t *ret)
{
	return parse_digits(s, 8, ret);
}

int parse_decimal(const char **s, double *ret)
{
	const char *at = *s, *point;
	uint64_t whole, fraction = 0;
	double unit = 1;
	int r = parse_dec(&at, &whole);

	if (r == 0 && *at == '.') {
		point = at++;
		r = parse_dec(&at, &fraction);
		for (point++; r == 0 && point < at; point++)
			unit *= 10;
	}
	if (r < 0)
		return r;
	*ret = (double)whole + (double)fraction / unit;
	*s = at;
	return 0;
}

int parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *ret)
{
	uint64_t value;
	int r;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		s += 2;
		r = parse_hex(&s, &value);
	} else {
		r = parse_dec(&s, &value);
	}
	if (r < 0)
		return r;
	if (*s)
		return -EINVAL;
	if (value < min || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

int parse_i64(const char *s, int64_t min, int64_t max, int64_t *ret)
{
	bool negative = *s == '-';
	uint64_t magnitude;
	int64_t value;
	int r;

	r = parse_u64(s + negative, 0, (uint64_t)INT64_MAX + negative, &magnitude);
	if (r < 0)
		return r;
	value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	if (value < min || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

int parse_size(const char *s, uint64_t *ret)
{
	static const char units[] = "KMGT";
	const char *unit;
	uint64_t value;
	int r;

	r = parse_dec(&s, &value);
	if (r < 0)
		return r;
	if (*s) {
		unit = strchr(units, *s);
		if (!unit || s[1])
			return -EINVAL;
		if (__builtin_mul_overflow(value, 1ULL << (10 * (unit - units + 1)), &value))
			return -ERANGE;
	}
	*ret = value;
	return 0;
}

int parse_list(const char *text, char separator, int (*item)(const char *part, void *data),
	       void *data)
{
	const char *end;
	int r;

	for (; *text; text = *end ? end + 1 : end) {
		_cleanup_free_ char *part = NULL;

		end = strchrnul(text, separator);
		part = xstrndup(text, (size_t)(end - text));
		r = item(part, data);
		if (r)
			return r;
	}
	return 0;
}
