/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include "base/digest.h"
#include "base/mem.h"
#include "symbol/internal/symcache_file.h"

#include <string.h>

static const char key[] = "key";

static void read_all(const void *bytes, size_t size)
{
	struct symcache_view v;
	struct symbol sym;
	size_t i;

	if (symcache_view_init(&v, bytes, size, key) < 0)
		return;
	for (i = 0; i < v.header->count; i++)
		if (symcache_view_read(&v, i, &sym) && strlen(sym.name) > size)
			__builtin_trap();
	symcache_view_done(&v);
}

/* Puts version and sums right, as far as there is room for them, so that what they cover is looked
 * at, too. */
static void mend(uint8_t *bytes, size_t size)
{
	struct symcache_header *h = (struct symcache_header *)bytes;
	size_t pages = (size + SYMCACHE_PAGE + 7) / (SYMCACHE_PAGE + 8), sums, i, skip, end;

	if (size < sizeof(*h) + pages * 8 || size % 8)
		return;
	sums = size - pages * 8;
	for (i = 0; i < pages; i++) {
		uint64_t sum;

		skip = i * SYMCACHE_PAGE + (i ? 0 : sizeof(*h));
		end = MIN(sums, (i + 1) * SYMCACHE_PAGE);
		sum = digest_bytes(bytes + skip, end > skip ? end - skip : 0, i);
		memcpy(bytes + sums + i * 8, &sum, sizeof(sum));
	}
	h->version = SYMCACHE_VERSION;
	h->check = digest_bytes(h, offsetof(struct symcache_header, check), 1);
	h->check = digest_bytes(key, strlen(key), h->check);
	h->check = digest_bytes(bytes + sums, pages * 8, h->check);
}

/* A file of the symbol cache, as it is and with its sums put right. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = xmemdup(data, size);

	read_all(copy, size);
	mend(copy, size);
	read_all(copy, size);
	free(copy);
	return 0;
}
