/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions kept of sampled files, from any source: lib/symbol/functions.c. The input is compressed
 * first, to reach the code for the contents, and is also used as it is. */
#include "fuzz.h"

#include "base/mem.h"
#include "symbol/functions.h"
#include "symbol/symtab.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static void try_bytes(const void *bytes, size_t size)
{
	_cleanup_(symtab_freep) struct symtab *st = NULL;
	uint64_t end = 0;
	size_t i;

	if (functions_unpack(bytes, size, "name", &st) < 0)
		return;
	for (i = 0; i < symtab_count(st); i++) {
		const struct symbol *s = symtab_at(st, i);

		if (s->offset < end || s->end <= s->offset || s->whole > i || !strlen(s->name))
			abort();
		end = s->end;
		if (symtab_find(st, s->offset) != s)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room = ZSTD_compressBound(size);
	_cleanup_free_ char *compressed = xmalloc(room);

	try_bytes(data, size);
	room = ZSTD_compress(compressed, room, data, size, 1);
	if (!ZSTD_isError(room))
		try_bytes(compressed, room);
	return 0;
}
