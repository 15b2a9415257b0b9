/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/keyed_hash.h"

#include "test.h"

#include <string.h>

/* CPython 3.11's hash() of bytes is the same function: with PYTHONHASHSEED=0, of the key 0. */
static void it_is_siphash(void)
{
	static const struct {
		const char *text;
		uint64_t hash;
	} rows[] = {
		{ "a", 0x407448d2b89b1813 },
		{ "0123456", 0x810aaf7acf670379 },
		{ "01234567", 0xda3dcedf84ea6cc6 },
		{ "/usr/lib/libc.so.6#12345678", 0xe20ec74efb9a075 },
	};
	const struct keyed_hash none = { { 0, 0 } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(keyed_hash_of(&none, rows[i].text, strlen(rows[i].text)), rows[i].hash);
}

static void each_key_has_other_hashes(void)
{
	const struct keyed_hash a = keyed_hash_new(), b = keyed_hash_new();

	CHECK(memcmp(&a, &b, sizeof(a)) != 0);
	CHECK(keyed_hash_of(&a, "xz", 2) != keyed_hash_of(&b, "xz", 2));
	CHECK(keyed_hash_of(&a, "xz", 2) == keyed_hash_of(&a, "xz", 2));
}

TESTS(T(it_is_siphash), T(each_key_has_other_hashes))
