/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/digest.h"

#include "base/hash.h"

#include <string.h>

/* Independent lanes keep the multiplier busy. */
enum { LANES = 4 };

static uint64_t step(uint64_t lane, uint64_t word)
{
	lane = (lane ^ word) * 0x9e3779b97f4a7c15ULL;
	return lane ^ lane >> 29;
}

uint64_t digest_bytes(const void *data, size_t size, uint64_t seed)
{
	uint64_t lanes[LANES], words[LANES], digest = hash_add(seed, size);
	const char *at = data;
	size_t i;

	for (i = 0; i < LANES; i++)
		lanes[i] = hash_u64(seed + i + 1);
	for (; size >= sizeof(words); at += sizeof(words), size -= sizeof(words)) {
		memcpy(words, at, sizeof(words));
		for (i = 0; i < LANES; i++)
			lanes[i] = step(lanes[i], words[i]);
	}
	memset(words, 0, sizeof(words));
	if (size)
		memcpy(words, at, size);
	for (i = 0; i < LANES; i++)
		digest = hash_add(digest, step(lanes[i], words[i]));
	return digest;
}
