/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/compact/internal/pack_format.h"

#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Where a header's fields are (POSIX.1-2017, pax, "ustar Interchange Format"). */
static const struct field {
	size_t at, size;
} field_name = { 0, 100 }, field_mode = { 100, 8 }, field_uid = { 108, 8 }, field_gid = { 116, 8 },
  field_size = { 124, 12 }, field_mtime = { 136, 12 }, field_sum = { 148, 8 };
enum { AT_KIND = 156, AT_MAGIC = 257 };

static const char magic[8] = "ustar\00000";

size_t pack_format_padded(size_t size)
{
	return (size + PACK_BLOCK - 1) / PACK_BLOCK * PACK_BLOCK;
}

/* Writes octal digits with leading zeros and a NUL; a number too large for that in binary, as GNU
 * tar does. */
static void put_number(char *block, struct field f, uint64_t value)
{
	char text[32];
	size_t i;

	(void)snprintf(text, sizeof(text), "%0*" PRIo64, (int)f.size - 1, value);
	if (strlen(text) < f.size) {
		memcpy(block + f.at, text, f.size);
		return;
	}
	for (i = 0; i < f.size; i++)
		block[f.at + f.size - 1 - i] = i < 8 ? (char)(value >> (8 * i)) : 0;
	block[f.at] = (char)0x80;
}

static int get_number(const char *block, struct field f, uint64_t *ret)
{
	const char *at = block + f.at, *end = at + f.size;
	uint64_t value = 0;

	if (*at & 0x80) { /* at most 2^63: the bytes above must be zero */
		for (at++; at < end - 8; at++)
			if (*at)
				return -EBADMSG;
		for (; at < end; at++)
			value = value << 8 | (unsigned char)*at;
		*ret = value;
		return value > INT64_MAX ? -EBADMSG : 0;
	}
	for (; at < end && *at >= '0' && *at <= '7'; at++)
		value = value << 3 | (uint64_t)(*at - '0');
	if (at < end && *at != '\0' && *at != ' ')
		return -EBADMSG;
	*ret = value;
	return 0;
}

/* The sum of all bytes, taking the checksum field as blanks. */
static uint64_t sum_of(const char *block)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < PACK_BLOCK; i++)
		sum += i - field_sum.at < field_sum.size ? ' ' : (unsigned char)block[i];
	return sum;
}

void pack_format_header(const char *name, int kind, uint64_t size, uint64_t mtime,
			char ret[PACK_BLOCK])
{
	memset(ret, 0, PACK_BLOCK);
	memcpy(ret + field_name.at, name, MIN(strlen(name), field_name.size));
	put_number(ret, field_mode, 0600);
	put_number(ret, field_uid, 0);
	put_number(ret, field_gid, 0);
	put_number(ret, field_size, size);
	put_number(ret, field_mtime, mtime);
	ret[AT_KIND] = (char)kind;
	memcpy(ret + AT_MAGIC, magic, sizeof(magic));
	put_number(ret, (struct field){ field_sum.at, 7 }, sum_of(ret));
	ret[field_sum.at + 7] = ' ';
}

char *pack_format_record(const char *key, const char *value)
{
	size_t rest = strlen(key) + strlen(value) + 3, length = rest + 1, before = 0;
	char digits[24];

	/* The length counts its own digits. */
	while (length != before) {
		before = length;
		length = rest + (size_t)snprintf(digits, sizeof(digits), "%zu", length);
	}
	return xasprintf("%zu %s=%s\n", length, key, value);
}

bool pack_format_is_end(const char block[PACK_BLOCK])
{
	static const char zeros[PACK_BLOCK];

	return !memcmp(block, zeros, PACK_BLOCK);
}

int pack_format_parse(const char block[PACK_BLOCK], struct pack_header *ret)
{
	uint64_t sum;

	if (memcmp(block + AT_MAGIC, magic, sizeof(magic)) ||
	    get_number(block, field_sum, &sum) < 0 || sum != sum_of(block))
		return -EBADMSG;
	memcpy(ret->name, block + field_name.at, field_name.size);
	ret->name[field_name.size] = '\0';
	ret->kind = (unsigned char)block[AT_KIND];
	if (get_number(block, field_size, &ret->size) < 0 ||
	    get_number(block, field_mtime, &ret->mtime) < 0)
		return -EBADMSG;
	return 0;
}

/* Takes the next record: its length in digits, a blank, then the rest up to its newline. */
static bool next_record(const char **at, const char *end, const char **ret, size_t *ret_size)
{
	const char *start = *at, *digits = start;
	size_t length = 0;

	for (; digits < end && *digits >= '0' && *digits <= '9' && length < SIZE_MAX / 16; digits++)
		length = length * 10 + (size_t)(*digits - '0');
	if (digits == end || *digits++ != ' ' || length > (size_t)(end - start) ||
	    length < (size_t)(digits - start) + 1 || start[length - 1] != '\n')
		return false;
	*ret = digits;
	*ret_size = length - (size_t)(digits - start) - 1;
	*at = start + length;
	return true;
}

bool pack_format_find(const char *records, size_t size, const char *key, const char **ret,
		      size_t *ret_size)
{
	const char *at = records, *end = records + size, *record;
	size_t length, n = strlen(key);

	while (at < end && next_record(&at, end, &record, &length)) {
		if (length <= n || memcmp(record, key, n) || record[n] != '=')
			continue;
		*ret = record + n + 1;
		*ret_size = length - n - 1;
		return true;
	}
	return false;
}
