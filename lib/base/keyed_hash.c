/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SipHash (Aumasson and Bernstein, 2012) with one round per word and three at the end. */
#include "base/keyed_hash.h"

#include "base/clock.h"
#include "base/macro.h"

#include <sys/random.h>

struct keyed_hash keyed_hash_new(void)
{
	struct keyed_hash h;

	/* Early after boot the kernel may have no randomness yet, and is not waited for. */
	if (getrandom(&h, sizeof(h), GRND_NONBLOCK) != sizeof(h))
		h = (struct keyed_hash){ { clock_now_ns(), (uintptr_t)&h } };
	return h;
}

static uint64_t turn_left(uint64_t x, unsigned int bits)
{
	return x << bits | x >> (64 - bits);
}

static void mix(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = turn_left(v[1], 13) ^ v[0];
	v[3] = turn_left(v[3], 16) ^ v[2];
	v[0] = turn_left(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = turn_left(v[1], 17) ^ v[2];
	v[3] = turn_left(v[3], 21) ^ v[0];
	v[2] = turn_left(v[2], 32);
}

static void add_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	mix(v);
	v[0] ^= word;
}

/* The first @size bytes, at most eight, as a number of little endian. */
static uint64_t word_of(const uint8_t *bytes, size_t size)
{
	uint64_t word = 0;

	while (size-- > 0)
		word = word << 8 | bytes[size];
	return word;
}

uint64_t keyed_hash_of(const struct keyed_hash *h, const void *data, size_t size)
{
	uint64_t v[4] = { h->key[0] ^ 0x736f6d6570736575, h->key[1] ^ 0x646f72616e646f6d,
			  h->key[0] ^ 0x6c7967656e657261, h->key[1] ^ 0x7465646279746573 };
	const uint8_t *at = data;
	size_t left;

	for (left = size; left >= 8; left -= 8, at += 8)
		add_word(v, word_of(at, 8));
	add_word(v, (uint64_t)size << 56 | word_of(at, left));
	v[2] ^= 0xff;
	mix(v);
	mix(v);
	mix(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
