/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounds-checked reading of untrusted bytes. A span borrows the bytes that it points at. Every read
 * moves it on, or fails and leaves it where it is if too few bytes are left.
 *
 *	struct span in = span_of(data, size);
 *	uint32_t magic;
 *	if (span_u32(&in, &magic) < 0)
 *		return error_set(err, -EBADMSG, "%s: cut short", path);
 */
#pragma once

#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
	const uint8_t *at; /* next byte */
	size_t left;	   /* bytes from there to the end */
};

/* A span over @size bytes at @data, which stay the caller's. */
static inline struct span span_of(const void *data, size_t size)
{
	return (struct span){ data, size };
}

/* Returns the next @size bytes and moves past them, or NULL if there are fewer. */
static inline const void *span_take(struct span *s, size_t size)
{
	const uint8_t *at = s->at;

	if (size > s->left)
		return NULL;
	if (size) /* an empty span may be at NULL */
		s->at += size;
	s->left -= size;
	return at;
}

/* Copies the next @size bytes to @to; 0, or -EBADMSG if there are fewer. */
static inline int span_copy(struct span *s, void *to, size_t size)
{
	const void *from = span_take(s, size);

	if (!from)
		return -EBADMSG;
	memcpy(to, from, size);
	return 0;
}

/* Cuts the next @size bytes off as a span of their own; 0, or -EBADMSG if there are fewer. */
static inline int span_sub(struct span *s, size_t size, struct span *ret)
{
	const void *from = span_take(s, size);

	if (!from)
		return -EBADMSG;
	*ret = span_of(from, size);
	return 0;
}

/* These read the next unsigned integer in host byte order, as the kernel and our own daemon write
 * it; 0 or -EBADMSG. */
static inline int span_u16(struct span *s, uint16_t *ret)
{
	return span_copy(s, ret, sizeof(*ret));
}

static inline int span_u32(struct span *s, uint32_t *ret)
{
	return span_copy(s, ret, sizeof(*ret));
}

static inline int span_u64(struct span *s, uint64_t *ret)
{
	return span_copy(s, ret, sizeof(*ret));
}

/* The next byte; 0 or -EBADMSG. */
static inline int span_u8(struct span *s, uint8_t *ret)
{
	if (!s->left)
		return -EBADMSG;
	*ret = *s->at++;
	s->left--;
	return 0;
}

/* The next LEB128 number, as DWARF writes them; bits above 64 are dropped. 0, or -EBADMSG if it is
 * cut short. */
static inline int span_uleb(struct span *s, uint64_t *ret)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	size_t i;

	/* Most numbers have one byte. */
	if (s->left && !(*s->at & 0x80)) {
		*ret = *s->at++;
		s->left--;
		return 0;
	}
	for (i = 0; i < s->left; i++, shift += 7) {
		if (shift < 64)
			value |= (uint64_t)(s->at[i] & 0x7f) << shift;
		if (s->at[i] & 0x80)
			continue;
		s->at += i + 1;
		s->left -= i + 1;
		*ret = value;
		return 0;
	}
	return -EBADMSG;
}

/* The same with a sign. */
static inline int span_sleb(struct span *s, int64_t *ret)
{
	const uint8_t *from = s->at;
	uint64_t value;
	size_t bits;
	int r = span_uleb(s, &value);

	if (r < 0)
		return r;
	bits = (size_t)(s->at - from) * 7;
	if (bits < 64 && (s->at[-1] & 0x40))
		value |= ~0ULL << bits;
	*ret = (int64_t)value;
	return 0;
}

/* The string that starts at the span's next byte and ends with NUL inside the span, or NULL;
 * moves past the NUL. */
static inline const char *span_string(struct span *s)
{
	const char *text = (const char *)s->at;
	const uint8_t *nul = s->left ? memchr(s->at, 0, s->left) : NULL;

	if (!nul)
		return NULL;
	s->left -= (size_t)(nul + 1 - s->at);
	s->at = nul + 1;
	return text;
}

/* These read the 16, 32 or 64 bit little-endian integer at @p. */
static inline uint16_t get_le16(const void *p)
{
	uint16_t value;

	memcpy(&value, p, sizeof(value));
	return le16toh(value);
}

static inline uint32_t get_le32(const void *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return le32toh(value);
}

static inline uint64_t get_le64(const void *p)
{
	uint64_t value;

	memcpy(&value, p, sizeof(value));
	return le64toh(value);
}

/* The same, big-endian. */
static inline uint16_t get_be16(const void *p)
{
	return __builtin_bswap16(get_le16(p));
}

static inline uint32_t get_be32(const void *p)
{
	return __builtin_bswap32(get_le32(p));
}

static inline uint64_t get_be64(const void *p)
{
	return __builtin_bswap64(get_le64(p));
}
