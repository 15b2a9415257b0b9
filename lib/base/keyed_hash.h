/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hashes for tables whose keys others choose: names of files. Without the key, which is random,
 * they cannot make many names with the same hash. A plain value: nothing to free.
 *
 *	struct keyed_hash h = keyed_hash_new();
 *	uint64_t hash = keyed_hash_of(&h, name, strlen(name));
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct keyed_hash {
	uint64_t key[2];
};

/* Returns one with a new key. */
struct keyed_hash keyed_hash_new(void);
/* Returns the hash of @size bytes (SipHash-1-3). */
uint64_t keyed_hash_of(const struct keyed_hash *h, const void *data, size_t size);
