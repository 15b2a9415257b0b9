/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines kept of sampled files, from any source: lib/symbol/kept_lines.c. The input is compressed
 * first, to reach the code for the contents, and is also used as it is. */
#include "fuzz.h"

#include "base/mem.h"
#include "symbol/kept_lines.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static void try_bytes(const void *bytes, size_t size)
{
	_cleanup_(kept_lines_done) struct kept_lines l = { 0 };
	uint64_t address = 0;
	size_t i;

	if (kept_lines_unpack(bytes, size, &l) < 0)
		return;
	for (i = 0; i < l.count; i++) {
		const struct kept_line *row = &l.list[i], *at = kept_lines_find(&l, row->address);

		if ((i && row->address <= address) || (row->line && at != row) ||
		    (at && strlen(l.files[at->file]) > size + KEPT_LINES_PLAIN_MAX))
			abort();
		address = row->address;
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
