/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hash functions for tables; not for anything that must resist an attacker. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Spreads the bits of one integer over all 64. */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x9e3779b97f4a7c15ULL;
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9ULL;
	return x ^ x >> 32;
}

/* Adds one more integer to a hash. */
static inline uint64_t hash_add(uint64_t hash, uint64_t x)
{
	return hash_u64(hash * 31 + x);
}

/* Hash of @size bytes (FNV-1a, mixed). */
static inline uint64_t hash_bytes(const void *data, size_t size)
{
	const uint8_t *p = data;
	uint64_t h = 0xcbf29ce484222325ULL;

	while (size--)
		h = (h ^ *p++) * 0x100000001b3ULL;
	return hash_u64(h);
}

/* The same for longer texts, eight bytes at a time. Its values must not be kept in files. */
static inline uint64_t hash_text(const char *text, size_t size)
{
	uint64_t h = size, word;

	for (; size >= sizeof(word); size -= sizeof(word), text += sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 32;
	}
	for (word = 0; size; size--)
		word = word << 8 | (uint8_t)*text++;
	return hash_add(h, word);
}
